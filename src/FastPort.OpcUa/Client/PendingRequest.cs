using System.Threading.Tasks.Sources;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// A request that waits for its response. The channel removes it from its table before it completes it, so exactly one of response,
/// timeout, cancellation and end of the channel does.
/// </summary>
internal abstract class PendingRequest
{
    /// <summary>The time at which the request fails with BadTimeout, in milliseconds of the clock.</summary>
    public long Deadline { get; set; }

    /// <summary>Whether byte strings of the response stay in the message's memory.</summary>
    public bool BorrowsBytes { get; protected set; }

    /// <summary>Decodes the response.</summary>
    /// <param name="type">The message's type.</param>
    /// <param name="decoder">Stands at the response.</param>
    /// <param name="owner">The memory that byte strings refer to; null if they are copied.</param>
    /// <returns>Whether the result owns <paramref name="owner"/> from now on.</returns>
    public abstract bool Complete(uint type, ref BinaryDecoder decoder, MessageBuffer? owner);

    /// <summary>Ends the request without a response.</summary>
    public abstract void Fail(StatusCode status, RequestFate fate);

    /// <summary>Ends the request with an answer that is neither a response nor a refusal.</summary>
    public abstract void FailWithoutResult(StatusCode status);
}

/// <summary>A request with the type of its response. Reused: a caller awaits the task of <see cref="Start"/> exactly once.</summary>
internal sealed class PendingRequest<T>(Stack<PendingRequest<T>> pool) : PendingRequest, IValueTaskSource<ServiceResult<T>>
    where T : struct, IServiceMessage
{
    // A Call or a Write takes effect before its answer is created: if it were sent again, it would be executed twice.
    private static readonly RequestFate WithoutResult = T.EncodingId is CallResponse.EncodingIdNumber or WriteResponse.EncodingIdNumber
        ? RequestFate.Unanswered
        : RequestFate.Answered;

    private ManualResetValueTaskSourceCore<ServiceResult<T>> _core;
    private T _into;

    /// <summary>Begins to wait.</summary>
    /// <param name="terms">How.</param>
    /// <param name="into">
    /// The target of the decoded response: it may hold memory of the caller, which is written before the task ends.
    /// </param>
    public ValueTask<ServiceResult<T>> Start(RequestTerms terms, in T into)
    {
        _core.RunContinuationsAsynchronously = !terms.ContinuesOnLoop;
        BorrowsBytes = terms.BorrowsBytes;
        _into = into;
        return new ValueTask<ServiceResult<T>>(this, _core.Version);
    }

    public override bool Complete(uint type, ref BinaryDecoder decoder, MessageBuffer? owner)
    {
        if (type != T.EncodingId)
        {
            FailWithoutResult(StatusCodes.BadUnknownResponse);
            return false;
        }

        T response = _into;
        response.Code(ref decoder);
        if (!decoder.Error.IsGood)
        {
            FailWithoutResult(decoder.Error);
            return false;
        }

        _core.SetResult(new ServiceResult<T>(StatusCodes.Good, response, RequestFate.Answered, owner));
        return owner is not null;
    }

    public override void Fail(StatusCode status, RequestFate fate) => _core.SetResult(new ServiceResult<T>(status, default, fate));

    public override void FailWithoutResult(StatusCode status) => Fail(status, WithoutResult);

    ServiceResult<T> IValueTaskSource<ServiceResult<T>>.GetResult(short token)
    {
        ServiceResult<T> result = _core.GetResult(token);

        // It may stay unused for a long time, and the response may be large.
        _core.Reset();
        _into = default;
        lock (pool)
        {
            pool.Push(this);
        }

        return result;
    }

    ValueTaskSourceStatus IValueTaskSource<ServiceResult<T>>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<ServiceResult<T>>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
