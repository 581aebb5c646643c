namespace FastPort.OpcUa;

/// <content>Conversions from the .NET types of scalar values.</content>
public readonly partial struct Variant
{
    /// <summary>A value of type Boolean.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(bool value) => From(value);

    /// <summary>A value of type SByte.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(sbyte value) => From(value);

    /// <summary>A value of type Byte.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(byte value) => From(value);

    /// <summary>A value of type Int16.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(short value) => From(value);

    /// <summary>A value of type UInt16.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(ushort value) => From(value);

    /// <summary>A value of type Int32.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(int value) => From(value);

    /// <summary>A value of type UInt32.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(uint value) => From(value);

    /// <summary>A value of type Int64.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(long value) => From(value);

    /// <summary>A value of type UInt64.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(ulong value) => From(value);

    /// <summary>A value of type Float.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(float value) => From(value);

    /// <summary>A value of type Double.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(double value) => From(value);

    /// <summary>A value of type String.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(string? value) => From(value);

    /// <summary>A value of type DateTime.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(DateTime value) => From(value);

    /// <summary>A value of type Guid.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(Guid value) => From(value);

    /// <summary>A value of type ByteString.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(ByteString value) => From(value);

    /// <summary>A value of type NodeId.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(NodeId value) => From(value);

    /// <summary>A value of type StatusCode.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(StatusCode value) => From(value);

    /// <summary>A value of type QualifiedName.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(QualifiedName value) => From(value);

    /// <summary>A value of type LocalizedText.</summary>
    /// <param name="value">The value.</param>
    public static implicit operator Variant(LocalizedText value) => From(value);

    /// <summary>Whether type and value are equal.</summary>
    public static bool operator ==(Variant left, Variant right) => left.Equals(right);

    /// <summary>Whether type or value differ.</summary>
    public static bool operator !=(Variant left, Variant right) => !left.Equals(right);
}
