namespace FastPort.OpcUa.Encoding;

/// <summary>Built-in types whose scalar values are encoded as the low bytes of <see cref="Variant.Bits"/>.</summary>
internal static class FixedSizes
{
    /// <summary>Mask, type, value of 8 bytes, status, two times with their picoseconds: the longest data value of such a type.</summary>
    public const int MaxDataValueBytes = 1 + 1 + 8 + 4 + (2 * (8 + 2));

    // By BuiltInType. Boolean and DateTime are converted when they are read or written, so they are not among them.
    private static ReadOnlySpan<byte> Sizes =>
    [
        0, 0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0,
    ];

    /// <summary>Bytes of a value; 0 for all other types.</summary>
    public static int Of(BuiltInType type) => (uint)type < (uint)Sizes.Length ? Sizes[(int)type] : 0;

    /// <summary>The low bytes of a number.</summary>
    /// <param name="bits">The number.</param>
    /// <param name="bytes">1 to 8.</param>
    public static ulong Low(ulong bits, int bytes) => bits & (ulong.MaxValue >> (64 - (8 * bytes)));
}
