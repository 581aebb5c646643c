namespace FastPort.Transports;

/// <summary>The signals and the state of a pump: one word, changed only by interlocked operations.</summary>
internal static class PumpSignals
{
    /// <summary>The pump runs, or a work item that will run it waits in the pool.</summary>
    public const int Active = 1;

    /// <summary>The pump rests because the protocol returned Pause: bytes alone do not wake it.</summary>
    public const int Paused = 2;

    /// <summary>There may be bytes to read, or the end of the stream.</summary>
    public const int Bytes = 4;

    /// <summary>Reading is resumed.</summary>
    public const int Resumed = 8;

    /// <summary>A flag has changed: closing, aborted, lost, or there is other work for the loop.</summary>
    public const int Look = 16;
}
