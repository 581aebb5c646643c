using System.Runtime.CompilerServices;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Call (OPC 10000-4, 5.12).</content>
public sealed partial class OpcUaClient
{
    private readonly Stack<PendingRequest<CallResponse>> _calls = [];

    /// <summary>Calls a method.</summary>
    /// <param name="objectId">The object that has the method.</param>
    /// <param name="methodId">The method.</param>
    /// <param name="inputs">The input arguments.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The method's status and output arguments.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<MethodCallResult> CallAsync(
        NodeId objectId, NodeId methodId, IReadOnlyList<Variant> inputs, CancellationToken cancellationToken = default)
    {
        ServiceResult<CallResponse> result = await InvokeAsync(
            CallRequestOf(objectId, methodId, inputs), _calls, "Call", cancellationToken).ConfigureAwait(false);
        return ResultOf(result);
    }

    /// <summary>As <see cref="CallAsync"/>, for large byte strings: outputs are not copied out of the received message.</summary>
    /// <param name="objectId">The object that has the method.</param>
    /// <param name="methodId">The method.</param>
    /// <param name="inputs">The input arguments.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The method's status and output arguments. Dispose them: byte strings are valid until then.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<PooledResult<MethodCallResult>> CallPooledAsync(
        NodeId objectId, NodeId methodId, IReadOnlyList<Variant> inputs, CancellationToken cancellationToken = default)
    {
        ServiceResult<CallResponse> result = await InvokeAsync(
            CallRequestOf(objectId, methodId, inputs), _calls, "Call", cancellationToken, new RequestTerms(BorrowsBytes: true))
            .ConfigureAwait(false);
        try
        {
            return new PooledResult<MethodCallResult>(ResultOf(result), result.Owner);
        }
        catch
        {
            result.Owner?.Dispose();
            throw;
        }
    }

    private static CallRequest CallRequestOf(NodeId objectId, NodeId methodId, IReadOnlyList<Variant> inputs)
    {
        ArgumentNullException.ThrowIfNull(inputs);
        return new CallRequest
        {
            MethodsToCall = [new CallMethodRequest { ObjectId = objectId, MethodId = methodId, InputArguments = [.. inputs] }],
        };
    }

    private MethodCallResult ResultOf(in ServiceResult<CallResponse> result) =>
        result.Response.Results is [var called]
            ? new MethodCallResult(called.StatusCode, called.OutputArguments ?? [])
            : throw Failed("Call", StatusCodes.BadUnknownResponse, RequestFate.Unanswered);
}
