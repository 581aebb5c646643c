namespace FastPortPeer.Messaging;

/// <summary>Which part of a run a message belongs to.</summary>
internal enum MessagePhase
{
    /// <summary>Before measuring.</summary>
    LeadIn,

    /// <summary>While measuring.</summary>
    Measured,

    /// <summary>The run's last message, which is not counted.</summary>
    Last,
}

/// <summary>What a message carries at its head and at its tail: its number in the run, and in the top byte the phase.</summary>
internal readonly record struct MessageMark(ulong Value)
{
    private const int PhaseShift = 56;

    public MessageMark(MessagePhase phase, long number)
        : this(((ulong)phase << PhaseShift) | (ulong)number)
    {
    }

    public MessagePhase Phase => (MessagePhase)(Value >> PhaseShift);

    public long Number => (long)(Value & ((1ul << PhaseShift) - 1));
}
