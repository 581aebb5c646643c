using System.Globalization;

namespace FastPort.Conformance.Wire;

/// <summary>How a field is encoded: the types of Protocol Buffers that the messages have.</summary>
internal enum FieldKind
{
    // A varint: uint32, uint64, bool.
    Number,
    Signed32,
    Fixed32,
    SignedFixed32,
    SignedFixed64,
    Fixed64,
    Float,
    Double,
    Text,
    Bytes,
    Message,
}

/// <summary>Numbers of each kind, as the cases write them, and as bits.</summary>
internal static class FieldKinds
{
    public static int Wire(this FieldKind kind) => kind switch
    {
        FieldKind.Number or FieldKind.Signed32 => Proto.VarintWire,
        FieldKind.Fixed32 or FieldKind.SignedFixed32 or FieldKind.Float => Proto.Fixed32Wire,
        FieldKind.Fixed64 or FieldKind.SignedFixed64 or FieldKind.Double => Proto.Fixed64Wire,
        _ => Proto.BytesWire,
    };

    public static bool IsNumber(this FieldKind kind) => kind.Wire() != Proto.BytesWire;

    /// <exception cref="FormatException">The text is not such a number.</exception>
    public static ulong ToBits(this FieldKind kind, string text) => kind switch
    {
        FieldKind.Signed32 => ZigZag(int.Parse(text, CultureInfo.InvariantCulture)),
        FieldKind.SignedFixed32 => (uint)int.Parse(text, CultureInfo.InvariantCulture),
        FieldKind.SignedFixed64 => (ulong)long.Parse(text, CultureInfo.InvariantCulture),
        FieldKind.Float => BitConverter.SingleToUInt32Bits(float.Parse(text, CultureInfo.InvariantCulture)),
        FieldKind.Double => BitConverter.DoubleToUInt64Bits(double.Parse(text, CultureInfo.InvariantCulture)),
        _ => ulong.Parse(text, CultureInfo.InvariantCulture),
    };

    public static string ToText(this FieldKind kind, ulong bits) => kind switch
    {
        FieldKind.Signed32 => Text((int)(uint)(bits >> 1) ^ -(int)(bits & 1)),
        FieldKind.SignedFixed32 => Text((int)bits),
        FieldKind.SignedFixed64 => Text((long)bits),
        FieldKind.Float => Text(BitConverter.UInt32BitsToSingle((uint)bits)),
        FieldKind.Double => Text(BitConverter.UInt64BitsToDouble(bits)),
        _ => Text(bits),
    };

    private static string Text(IFormattable number) => number.ToString(null, CultureInfo.InvariantCulture);

    private static uint ZigZag(int number) => (uint)((number << 1) ^ (number >> 31));
}
