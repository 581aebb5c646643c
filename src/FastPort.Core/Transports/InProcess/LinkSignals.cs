namespace FastPort.Transports.InProcess;

/// <summary>What an end of a link is told, and what its pump is doing: one word, changed by interlocked operations only.</summary>
internal static class LinkSignals
{
    /// <summary>The pump runs, or a work item that will run it waits in the pool.</summary>
    public const int Active = 1;

    /// <summary>The pump rests because the protocol said Pause: bytes alone do not wake it.</summary>
    public const int Held = 2;

    /// <summary>The peer has announced bytes, or its end.</summary>
    public const int Bytes = 4;

    /// <summary>Reading goes on.</summary>
    public const int Resumed = 8;

    /// <summary>A flag has changed: closing, aborted, lost.</summary>
    public const int Look = 16;
}
