using System.Threading.Tasks.Sources;
using FastPort.Sessions;

namespace FastPort.Redis.Relaying;

/// <summary>
/// A relay whose sender waits for its confirmation. The thread that takes it out of the <see cref="PendingRelays"/> completes it, once;
/// after the result was read it is used again.
/// </summary>
internal sealed class PendingRelay(PendingRelays owner) : IValueTaskSource<SendStatus>
{
    private ManualResetValueTaskSourceCore<SendStatus> _core;

    /// <summary>Its place in the table and the number of its use; 0 while it is not in use.</summary>
    public ulong Correlation { get; set; }

    /// <summary>When it is given up, as a timestamp.</summary>
    public long Deadline { get; set; }

    /// <summary>Where it is on its way to; null while its target is looked up.</summary>
    public NodeLink? Link { get; set; }

    /// <summary>The number of the batch it is in.</summary>
    public ulong Batch { get; set; }

    public ValueTask<SendStatus> AsTask() => new(this, _core.Version);

    public void Complete(SendStatus status) => _core.SetResult(status);

    public SendStatus GetResult(short token)
    {
        SendStatus status = _core.GetResult(token);
        _core.Reset();
        owner.Return(this);
        return status;
    }

    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
