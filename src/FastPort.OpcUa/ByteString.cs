namespace FastPort.OpcUa;

/// <summary>
/// A byte string; null and empty are different values (OPC 10000-6, 5.2.2.7). Holds a reference to the bytes, not a copy.
/// </summary>
public readonly struct ByteString : IEquatable<ByteString>
{
    private readonly byte[]? _array;
    private readonly int _offset;

    /// <summary>Wraps an array, which must not be changed later.</summary>
    /// <param name="array">The bytes; null for the null value.</param>
    public ByteString(byte[]? array)
        : this(array, 0, array?.Length ?? 0)
    {
    }

    /// <summary>Wraps a part of an array, which must not be changed later.</summary>
    /// <param name="array">The array; null for the null value.</param>
    /// <param name="offset">Index of the first byte.</param>
    /// <param name="length">Number of bytes.</param>
    /// <exception cref="ArgumentOutOfRangeException">The part does not lie in the array.</exception>
    public ByteString(byte[]? array, int offset, int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(length, (array?.Length ?? 0) - offset);
        _array = array;
        _offset = offset;
        Length = length;
    }

    /// <summary>Number of bytes; 0 for null.</summary>
    public int Length { get; }

    /// <summary>Whether this is the null value.</summary>
    public bool IsNull => _array is null;

    /// <summary>The bytes.</summary>
    public ReadOnlySpan<byte> Span => new(_array, _offset, Length);

    /// <summary>The bytes.</summary>
    public ReadOnlyMemory<byte> Memory => new(_array, _offset, Length);

    internal (object? Array, ulong Bits) Parts => (_array, (uint)Length | ((ulong)(uint)_offset << 32));

    internal static ByteString FromParts(object? array, ulong bits) => new((byte[]?)array, (int)(bits >> 32), (int)(uint)bits);

    /// <summary>A copy of the bytes; null for null.</summary>
    public byte[]? ToArray() => IsNull ? null : Span.ToArray();

    /// <summary>Whether both are null, or hold equal bytes.</summary>
    public bool Equals(ByteString other) => IsNull == other.IsNull && Span.SequenceEqual(other.Span);

    /// <summary>Whether the object is a byte string of equal bytes, or both are null.</summary>
    public override bool Equals(object? obj) => obj is ByteString other && Equals(other);

    /// <summary>A hash code of the bytes.</summary>
    public override int GetHashCode()
    {
        var hash = new HashCode();
        hash.AddBytes(Span);
        return hash.ToHashCode();
    }

    /// <summary>The bytes in hexadecimal, at most the first 32.</summary>
    public override string ToString() => Convert.ToHexString(Span[..Math.Min(Length, 32)]);

    /// <summary>Wraps an array.</summary>
    /// <param name="array">The bytes; null for the null value.</param>
    public static implicit operator ByteString(byte[]? array) => new(array);

    /// <summary>Whether both are null, or hold equal bytes.</summary>
    public static bool operator ==(ByteString left, ByteString right) => left.Equals(right);

    /// <summary>Whether the values differ.</summary>
    public static bool operator !=(ByteString left, ByteString right) => !left.Equals(right);
}
