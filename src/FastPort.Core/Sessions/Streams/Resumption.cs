using FastPort.Sessions.Requests;

namespace FastPort.Sessions.Streams;

/// <summary>A side of a stream that one caller may await.</summary>
internal interface IAwaitedStream
{
    /// <summary>Resumes the caller, which waits, on this thread.</summary>
    void Resume();
}

/// <summary>
/// Resumes the caller of a stream: with those of the burst's replies, or by a work item. It is in one queue at a time, because only the
/// thread that has found a waiting caller may use it, and that caller waits again only after it was resumed.
/// </summary>
internal sealed class Resumption(IAwaitedStream stream) : CompletedReply, IThreadPoolWorkItem
{
    /// <summary>Loop only, within a burst that calls <see cref="OutgoingRequests.ResumeCallers"/>.</summary>
    public void InBurst() => ContinuationQueue.OfLoop.Add(this);

    /// <summary>Any thread.</summary>
    public void OnPool() => ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);

    void IThreadPoolWorkItem.Execute() => Resume();

    internal override void Resume() => stream.Resume();

    protected internal override void OnReply(scoped in InboundReply reply) => throw Unexpected();

    protected internal override void OnFailed(RequestFailure failure, string message) => throw Unexpected();

    private static InvalidOperationException Unexpected() => new("The queue's entry of a stream is no request.");
}
