namespace FastPort.OpcUa.Encoding;

/// <summary>The limits of a decoder. A value above a limit gives BadEncodingLimitsExceeded.</summary>
/// <param name="MaxStringBytes">Bytes of a text.</param>
/// <param name="MaxByteStringBytes">Bytes of a byte string.</param>
/// <param name="MaxArrayLength">Elements of an array.</param>
/// <param name="MaxMemoryBytes">
/// Memory that the arrays and objects of a message may use together, in addition to what <see cref="MemoryFor"/> the message gives it. The
/// content of strings and byte strings, which uses about as much as on the wire, does not count.
/// </param>
internal sealed record EncodingLimits(
    int MaxStringBytes = 16 * 1024 * 1024,
    int MaxByteStringBytes = 256 * 1024 * 1024,
    int MaxArrayLength = 1024 * 1024,
    long MaxMemoryBytes = long.MaxValue)
{
    /// <summary>Nesting of variants and data values (OPC 10000-6, 5.1.9).</summary>
    public const int MaxDepth = 100;

    /// <summary>Nesting of diagnostic infos.</summary>
    public const int MaxDiagnosticDepth = 10;

    public static EncodingLimits Default { get; } = new();

    /// <summary>
    /// Memory for a message: a byte on the wire can become a data value of 48 bytes. Numbers and their times use three times their size on
    /// the wire, references and small structures four times; larger ratios are allowed in messages of some megabytes.
    /// </summary>
    /// <param name="messageBytes">The bytes of the message at hand.</param>
    public long MemoryFor(int messageBytes) => Math.Min(MaxMemoryBytes, (64L * 1024 * 1024) + (4L * messageBytes));
}
