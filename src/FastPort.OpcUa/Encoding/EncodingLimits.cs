namespace FastPort.OpcUa.Encoding;

/// <summary>What a decoder accepts. A value above a limit gives BadEncodingLimitsExceeded.</summary>
/// <param name="MaxStringBytes">Bytes of a text.</param>
/// <param name="MaxByteStringBytes">Bytes of a byte string.</param>
/// <param name="MaxArrayLength">Elements of an array.</param>
/// <param name="MaxMemoryBytes">
/// Memory that the arrays and objects of a message take together; texts and byte strings, which take about as much as on the wire, do not
/// count. A byte on the wire can become a data value of 48 bytes.
/// </param>
internal sealed record EncodingLimits(
    int MaxStringBytes = 16 * 1024 * 1024,
    int MaxByteStringBytes = 256 * 1024 * 1024,
    int MaxArrayLength = 1024 * 1024,
    long MaxMemoryBytes = 128 * 1024 * 1024)
{
    /// <summary>Nesting of variants and data values (OPC 10000-6, 5.1.9).</summary>
    public const int MaxDepth = 100;

    /// <summary>Nesting of diagnostic infos.</summary>
    public const int MaxDiagnosticDepth = 10;

    public static EncodingLimits Default { get; } = new();

    /// <summary>
    /// Memory for the largest message. Numbers and their times take three times what they have on the wire, references and small structures
    /// four times; what takes more is allowed in messages of some megabytes.
    /// </summary>
    public static long MemoryFor(int maxMessageBytes) => (64L * 1024 * 1024) + (4L * maxMessageBytes);
}
