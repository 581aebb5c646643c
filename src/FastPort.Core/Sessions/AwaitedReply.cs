namespace FastPort.Sessions;

/// <summary>A request in flight whose caller awaits a task.</summary>
/// <param name="reader">Reads the reply.</param>
/// <param name="continuesOnLoop">
/// Whether the caller continues on the loop when the reply has arrived. Otherwise, and without a reply, it continues on the pool: a thread
/// that cancels a request or closes a session does not run other callers' code.
/// </param>
internal sealed class AwaitedReply<TResult>(ReplyReader<TResult> reader, bool continuesOnLoop = false) : PendingReply
{
    private readonly TaskCompletionSource<TResult> _result = new(
        continuesOnLoop ? TaskCreationOptions.None : TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<TResult> Task => _result.Task;

    /// <summary>Whether the server refused the request because it is stopping. The request was not run and can be sent again.</summary>
    public bool WasRefusedByStop { get; private set; }

    protected internal override void OnReply(scoped in InboundReply reply)
    {
        if (reply.IsError)
        {
            (ErrorCode code, string message) = reply.ReadError();
            WasRefusedByStop = code == ErrorCode.ShuttingDown;
            SetException(new RequestFailedException(code, message));
            return;
        }

        try
        {
            _result.TrySetResult(reader(in reply));
        }
        catch (Exception e)
        {
            SetException(e);
        }
    }

    protected internal override void OnFailed(RequestFailure failure, string message)
    {
        if (continuesOnLoop)
        {
            ThreadPool.UnsafeQueueUserWorkItem(
                static fails => fails.Reply.Fail(fails.Failure, fails.Message),
                (Reply: this, Failure: failure, Message: message),
                preferLocal: false);
        }
        else
        {
            Fail(failure, message);
        }
    }

    private void Fail(RequestFailure failure, string message)
    {
        if (failure == RequestFailure.Canceled)
        {
            _result.TrySetCanceled();
        }
        else
        {
            SetException(new RequestFailedException(failure, message));
        }
    }

    // Observed here: the task may no longer be awaited, for example after a failed connection attempt.
    private void SetException(Exception exception)
    {
        _result.TrySetException(exception);
        _ = _result.Task.Exception;
    }
}
