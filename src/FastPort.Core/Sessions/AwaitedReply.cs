using System.Threading.Tasks.Sources;
using FastPort.Sessions.Requests;

namespace FastPort.Sessions;

/// <summary>
/// A request in flight whose caller awaits the reply. Instances are pooled: <see cref="Rent"/> and <see cref="Return"/>.
/// <para>
/// The thread that removes the request from the outstanding ones completes it, once: it stores the result, and the pool, or the loop if the
/// options say so, resumes the caller. A thread that cancels a request or closes a session does not run other callers' code.
/// </para>
/// </summary>
internal sealed class AwaitedReply<TResult> : CompletedReply, IValueTaskSource<TResult>, IThreadPoolWorkItem
{
    private ManualResetValueTaskSourceCore<TResult> _source;
    private ReplyReader<TResult>? _reader;
    private bool _continuesOnLoop;
    private Session? _session;
    private TResult? _result;
    private Exception? _exception;

    /// <summary>Whether the server refused the request because it is stopping. The request was not run and can be sent again.</summary>
    public bool WasRefusedByStop { get; private set; }

    internal override bool SendsDeadline => true;

    /// <param name="reader">Reads the reply.</param>
    /// <param name="continuesOnLoop">
    /// Whether the caller continues on the loop when the reply has arrived. Otherwise, and without a reply, it continues on the pool.
    /// </param>
    public static AwaitedReply<TResult> Rent(ReplyReader<TResult> reader, bool continuesOnLoop = false)
    {
        AwaitedReply<TResult> reply = Spares<AwaitedReply<TResult>>.TryRent() ?? new AwaitedReply<TResult>();
        reply._reader = reader;
        reply._continuesOnLoop = continuesOnLoop;
        return reply;
    }

    /// <summary>Makes the instance available for another request. After its result was taken, or if the request was not sent.</summary>
    public void Return()
    {
        _source.Reset();
        _reader = null;
        _session = null;
        _result = default;
        _exception = null;
        WasRefusedByStop = false;
        Spares<AwaitedReply<TResult>>.Return(this);
    }

    /// <summary>The reply. Await it once.</summary>
    public ValueTask<TResult> ReplyAsync() => new(this, _source.Version);

    /// <summary>As <see cref="ReplyAsync"/>, for a task that is possibly never awaited. The instance does not return to the pool.</summary>
    public Task<TResult> AsTask()
    {
        Task<TResult> reply = ReplyAsync().AsTask();

        // Observed here: the task may no longer be awaited, for example after a failed connection attempt.
        _ = reply.ContinueWith(
            static failed => failed.Exception,
            CancellationToken.None,
            TaskContinuationOptions.OnlyOnFaulted | TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
        return reply;
    }

    /// <summary>
    /// Lets the token cancel the request, which this session has sent. Dispose the registration before <see cref="Return"/>.
    /// </summary>
    public CancellationTokenRegistration CancelThrough(Session session, CancellationToken cancellationToken)
    {
        if (!cancellationToken.CanBeCanceled)
        {
            return default;
        }

        _session = session;
        return cancellationToken.UnsafeRegister(
            static state =>
            {
                var reply = (AwaitedReply<TResult>)state!;
                reply._session!.Cancel(reply.Correlation);
            },
            this);
    }

    protected internal override void OnReply(scoped in InboundReply reply)
    {
        if (reply.IsError)
        {
            RequestFailedException failed = reply.ReadFailure();
            WasRefusedByStop = failed.Code == ErrorCode.ShuttingDown;
            _exception = failed;
        }
        else
        {
            try
            {
                _result = _reader!(in reply);
            }
            catch (Exception e)
            {
                _exception = e;
            }
        }

        if (_continuesOnLoop)
        {
            Resume();
        }
        else
        {
            ContinuationQueue.OfLoop.Add(this);
        }
    }

    protected internal override void OnFailed(RequestFailure failure, string message)
    {
        _exception = failure == RequestFailure.Canceled
            ? new OperationCanceledException()
            : new RequestFailedException(failure, message);
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    void IThreadPoolWorkItem.Execute() => Resume();

    internal override void Resume()
    {
        if (_exception is null)
        {
            _source.SetResult(_result!);
        }
        else
        {
            _source.SetException(_exception);
        }
    }

    TResult IValueTaskSource<TResult>.GetResult(short token) => _source.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<TResult>.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource<TResult>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _source.OnCompleted(continuation, state, token, flags);
}
