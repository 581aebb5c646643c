using System.Threading.Tasks.Sources;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>
/// A request that waits for its response. The channel removes it from its table before it completes it, so exactly one of response,
/// timeout, cancellation and end of the channel does.
/// </summary>
internal abstract class PendingRequest
{
    /// <summary>When the request fails with BadTimeout, in milliseconds of the clock.</summary>
    public long Deadline { get; set; }

    /// <summary>Decodes the response. False if it is not valid.</summary>
    public abstract void Complete(uint type, ref BinaryDecoder decoder);

    public abstract void Fail(StatusCode status);
}

/// <summary>A request with the type of its response. Reused: a caller awaits the task of <see cref="Start"/> exactly once.</summary>
internal sealed class PendingRequest<T>(Stack<PendingRequest<T>> pool) : PendingRequest, IValueTaskSource<ServiceResult<T>>
    where T : struct, IServiceMessage
{
    // Continuations do not run on the connection's loop: they are the application's.
    private ManualResetValueTaskSourceCore<ServiceResult<T>> _core = new() { RunContinuationsAsynchronously = true };

    public ValueTask<ServiceResult<T>> Start()
    {
        _core.Reset();
        return new ValueTask<ServiceResult<T>>(this, _core.Version);
    }

    public override void Complete(uint type, ref BinaryDecoder decoder)
    {
        if (type != T.EncodingId)
        {
            Fail(StatusCodes.BadUnknownResponse);
            return;
        }

        T response = decoder.ReadStructure<T>();
        _core.SetResult(new ServiceResult<T>(decoder.Error, response));
    }

    public override void Fail(StatusCode status) => _core.SetResult(new ServiceResult<T>(status, default));

    ServiceResult<T> IValueTaskSource<ServiceResult<T>>.GetResult(short token)
    {
        ServiceResult<T> result = _core.GetResult(token);
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
