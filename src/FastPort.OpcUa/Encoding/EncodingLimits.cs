namespace FastPort.OpcUa.Encoding;

/// <summary>What a decoder accepts. A value above a limit gives BadEncodingLimitsExceeded.</summary>
/// <param name="MaxStringBytes">Bytes of a text.</param>
/// <param name="MaxByteStringBytes">Bytes of a byte string.</param>
/// <param name="MaxArrayLength">Elements of an array.</param>
internal sealed record EncodingLimits(
    int MaxStringBytes = 16 * 1024 * 1024, int MaxByteStringBytes = 256 * 1024 * 1024, int MaxArrayLength = 1024 * 1024)
{
    /// <summary>Nesting of variants and data values (OPC 10000-6, 5.1.9).</summary>
    public const int MaxDepth = 100;

    /// <summary>Nesting of diagnostic infos.</summary>
    public const int MaxDiagnosticDepth = 10;

    public static EncodingLimits Default { get; } = new();
}
