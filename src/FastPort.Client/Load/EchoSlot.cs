namespace FastPort.Client.Load;

/// <summary>
/// One of a connection's reusable slots for a request in flight. It has one owner at a time: the stack of idle slots (under the lock of
/// <see cref="EchoSlots"/>), the thread that sends its request, then the session until the callback.
/// </summary>
internal sealed class EchoSlot(EchoLane lane, int number) : PendingReply
{
    private ulong _sequence;

    /// <summary>The stamp of the request that the slot carries.</summary>
    public ulong Stamp { get; private set; }

    /// <summary>When the request was due, in monotonic nanoseconds (open loop); 0 in the closed loop.</summary>
    public long Due { get; private set; }

    /// <summary>The session on which the request was last sent.</summary>
    public Session? SentOn { get; set; }

    /// <summary>Gives the slot its next request.</summary>
    public void Next(long due)
    {
        Due = due;
        Stamp = Mix(((ulong)(uint)number << 40) + ++_sequence);
    }

    protected internal override void OnReply(scoped in InboundReply reply) => lane.OnReply(this, in reply);

    protected internal override void OnFailed(RequestFailure failure, string message) => lane.OnFailed(this, message);

    // SplitMix64's finalizer: neighboring numbers differ in every byte, so that even payloads of one byte differ for most of them.
    private static ulong Mix(ulong value)
    {
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
        return value ^ (value >> 31);
    }
}
