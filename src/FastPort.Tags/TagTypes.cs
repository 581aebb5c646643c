using System.Runtime.CompilerServices;

namespace FastPort.Tags;

/// <summary>Properties of the types: the column that holds their values, and their .NET types.</summary>
internal static class TagTypes
{
    /// <summary>Bit of a row's type: the value is an array.</summary>
    public const byte ArrayBit = 0x80;

    /// <summary>Bit of a row's type: the array has two or more dimensions.</summary>
    public const byte DimensionsBit = 0x40;

    /// <summary>The bits of the type itself.</summary>
    public const byte TypeBits = 0x3F;

    // By type. A table, because it is read for each row of each message.
    private static readonly TagColumn[] Columns =
        [.. Enumerable.Range(0, (int)TagType.DiagnosticInfo + 1).Select(static type => (TagType)type switch
        {
            TagType.Null => TagColumn.None,
            TagType.Boolean => TagColumn.Bools,
            TagType.SByte or TagType.Int16 or TagType.Int32 => TagColumn.Ints,
            TagType.Byte or TagType.UInt16 or TagType.UInt32 or TagType.StatusCode => TagColumn.UInts,
            TagType.Int64 or TagType.DateTime => TagColumn.Longs,
            TagType.UInt64 => TagColumn.ULongs,
            TagType.Float => TagColumn.Floats,
            TagType.Double => TagColumn.Doubles,
            _ => TagColumn.Data,
        })];

    /// <summary>The column of a type's values; null for numbers that are not a type.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static TagColumn? ColumnOf(TagType type) => (uint)type < (uint)Columns.Length ? Columns[(int)type] : null;

    /// <summary>The type of a .NET type's scalar values; Null for others.</summary>
    public static TagType Of<T>() =>
        typeof(T) == typeof(bool) ? TagType.Boolean
        : typeof(T) == typeof(sbyte) ? TagType.SByte
        : typeof(T) == typeof(byte) ? TagType.Byte
        : typeof(T) == typeof(short) ? TagType.Int16
        : typeof(T) == typeof(ushort) ? TagType.UInt16
        : typeof(T) == typeof(int) ? TagType.Int32
        : typeof(T) == typeof(uint) ? TagType.UInt32
        : typeof(T) == typeof(long) ? TagType.Int64
        : typeof(T) == typeof(ulong) ? TagType.UInt64
        : typeof(T) == typeof(float) ? TagType.Float
        : typeof(T) == typeof(double) ? TagType.Double
        : typeof(T) == typeof(string) ? TagType.String
        : typeof(T) == typeof(DateTime) ? TagType.DateTime
        : typeof(T) == typeof(TagStatus) ? TagType.StatusCode
        : typeof(T) == typeof(byte[]) ? TagType.ByteString
        : TagType.Null;

    /// <summary>Whether values of the type are texts.</summary>
    public static bool IsText(TagType type) => type is TagType.String or TagType.XmlElement;
}

/// <summary>The columns of values.</summary>
internal enum TagColumn
{
    None,
    Bools,
    Ints,
    UInts,
    Longs,
    ULongs,
    Floats,
    Doubles,
    Data,
}
