namespace FastPort.Protocol.Diagnostics;

/// <summary>Message types of the diagnostics handlers.</summary>
public static class DiagnosticType
{
    /// <summary>Request and reply both Echo.</summary>
    public const ushort Echo = 0x0100;

    /// <summary>Raw bytes, counted and dropped.</summary>
    public const ushort Sink = 0x0101;

    /// <summary>What Sink has counted on this session.</summary>
    public const ushort SinkReport = 0x0102;

    /// <summary>Asks the server to stream Sink frames.</summary>
    public const ushort Source = 0x0103;
}
