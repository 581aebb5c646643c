using System.Buffers.Binary;
using System.Globalization;
using System.Text;

namespace FastPort.Tags;

/// <summary>Values that are held in OPC UA Binary (OPC 10000-6, 5.2.2), in their usual text form.</summary>
internal static class BinaryText
{
    private const byte HasUri = 0x80;
    private const byte HasServer = 0x40;
    private const byte HasLocale = 1;
    private const byte HasText = 2;

    /// <summary>The text; null if the type has no text form, or the bytes are not a value of it.</summary>
    public static string? Of(TagType type, ReadOnlySpan<byte> bytes)
    {
        var reader = new Reader(bytes);
        string? text = type switch
        {
            TagType.Guid => reader.Guid(),
            TagType.NodeId or TagType.ExpandedNodeId => NodeId(ref reader),
            TagType.QualifiedName => QualifiedName(ref reader),
            TagType.LocalizedText => LocalizedText(ref reader),
            _ => null,
        };
        return reader.IsGood && reader.Left == 0 ? text : null;
    }

    private static string? NodeId(ref Reader reader)
    {
        byte kind = reader.Byte();
        int index = (kind & 0x3F) switch
        {
            0 => 0,
            1 => reader.Byte(),
            _ => reader.UInt16(),
        };
        string? id = (kind & 0x3F) switch
        {
            0 => Text($"i={reader.Byte()}"),
            1 => Text($"i={reader.UInt16()}"),
            2 => Text($"i={reader.UInt32()}"),
            3 => $"s={Encoding.UTF8.GetString(reader.Bytes())}",
            4 => $"g={reader.Guid()}",
            5 => $"b={Convert.ToBase64String(reader.Bytes())}",
            _ => null,
        };
        string? uri = (kind & HasUri) != 0 ? Encoding.UTF8.GetString(reader.Bytes()) : null;
        string server = (kind & HasServer) != 0 ? Text($"svr={reader.UInt32()};") : string.Empty;
        string place = uri is not null ? $"nsu={uri};" : index != 0 ? Text($"ns={index};") : string.Empty;
        return id is null ? null : $"{server}{place}{id}";
    }

    private static string QualifiedName(ref Reader reader)
    {
        ushort index = reader.UInt16();
        string name = Encoding.UTF8.GetString(reader.Bytes());
        return index == 0 ? name : Text($"{index}:{name}");
    }

    private static string LocalizedText(ref Reader reader)
    {
        byte mask = reader.Byte();
        if ((mask & HasLocale) != 0)
        {
            reader.Bytes();
        }

        return (mask & HasText) != 0 ? Encoding.UTF8.GetString(reader.Bytes()) : string.Empty;
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private ref struct Reader(ReadOnlySpan<byte> bytes)
    {
        private ReadOnlySpan<byte> _rest = bytes;

        public bool IsGood { get; private set; } = true;

        public readonly int Left => _rest.Length;

        public byte Byte() => Take(1) is [var value] ? value : default;

        public ushort UInt16() => Take(sizeof(ushort)) is { Length: not 0 } two ? BinaryPrimitives.ReadUInt16LittleEndian(two) : default;

        public uint UInt32() => Take(sizeof(uint)) is { Length: not 0 } four ? BinaryPrimitives.ReadUInt32LittleEndian(four) : default;

        public string Guid() => Take(16) is { Length: not 0 } all ? $"{new Guid(all)}" : string.Empty;

        // A negative length is null.
        public ReadOnlySpan<byte> Bytes() => Take(Math.Max((int)UInt32(), 0));

        private ReadOnlySpan<byte> Take(int count)
        {
            if (count > _rest.Length)
            {
                IsGood = false;
                return default;
            }

            ReadOnlySpan<byte> taken = _rest[..count];
            _rest = _rest[count..];
            return taken;
        }
    }
}
