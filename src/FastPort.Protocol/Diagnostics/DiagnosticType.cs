namespace FastPort.Protocol;

/// <summary>Message types of the diagnostics handlers.</summary>
public static class DiagnosticType
{
    /// <summary>Request and reply are Echo messages.</summary>
    public const ushort Echo = 0x0100;

    /// <summary>Raw bytes, counted and dropped.</summary>
    public const ushort Sink = 0x0101;

    /// <summary>The counts of Sink messages on this session.</summary>
    public const ushort SinkReport = 0x0102;

    /// <summary>Requests a stream of Sink frames from the server.</summary>
    public const ushort Source = 0x0103;

    /// <summary>The figures of the server, for the peers that it allows.</summary>
    public const ushort Status = 0x0104;
}
