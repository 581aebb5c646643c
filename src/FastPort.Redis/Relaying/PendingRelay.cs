using System.Threading.Tasks.Sources;

namespace FastPort.Redis.Relaying;

/// <summary>
/// A relay whose sender waits for its confirmation. The thread that takes it out of the <see cref="PendingRelays"/> completes it, once.
/// </summary>
internal sealed class PendingRelay : IValueTaskSource<SendStatus>
{
    private ManualResetValueTaskSourceCore<SendStatus> _core;
    private NodeLink? _link;
    private ulong _batch;

    /// <summary>Its place in the table and the number of its use.</summary>
    public ulong Correlation { get; set; }

    /// <summary>When it is given up, as a timestamp.</summary>
    public long Deadline { get; set; }

    /// <summary>The relay is on its way to a node, in the batch with this number. Called by the link, under its lock.</summary>
    public void Sent(NodeLink link, ulong batch)
    {
        Volatile.Write(ref _batch, batch);
        Volatile.Write(ref _link, link);
    }

    /// <summary>Whether it is in one of these batches of a link.</summary>
    public bool IsIn(NodeLink link, ulong first, ulong last) =>
        Volatile.Read(ref _link) == link && Volatile.Read(ref _batch) is { } batch && batch >= first && batch <= last;

    public ValueTask<SendStatus> AsTask() => new(this, _core.Version);

    public void Complete(SendStatus status) => _core.SetResult(status);

    public SendStatus GetResult(short token) => _core.GetResult(token);

    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
