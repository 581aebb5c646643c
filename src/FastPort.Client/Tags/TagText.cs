using System.Globalization;
using System.Text;
using System.Text.Json;
using FastPort.Tags;

namespace FastPort.Client.Tags;

/// <summary>Values from a command line.</summary>
internal static class TagText
{
    // Only forms that begin with the year: 01.02.2026 is another day in another country.
    private static readonly string[] TimeFormats =
    [
        "yyyy-MM-dd", "yyyy-MM-dd HH:mmK", "yyyy-MM-ddTHH:mmK", "yyyy-MM-dd HH:mm:ss.FFFFFFFK", "yyyy-MM-ddTHH:mm:ss.FFFFFFFK",
    ];

    /// <summary>The value of a text, with a tag's type; false if it is none.</summary>
    public static bool TryParse(string text, TagInfo info, out TagValue value)
    {
        value = default;
        bool isArray = info.Rank >= 1 || (info.Rank != -1 && text.StartsWith('['));
        return HasForm(info)
            && (isArray ? TryParseArray(text, info.Type, out value) : TryParseScalar(text, info.Type, out value));
    }

    /// <summary>Whether a tag's type has values that can be written as text. A matrix has none.</summary>
    public static bool HasForm(TagInfo info) => info.Rank < 2
        && (info.Type is >= TagType.Boolean and <= TagType.DateTime || (info.Type == TagType.XmlElement && info.Rank < 1));

    /// <summary>The texts that <see cref="TryParse"/> reads for a tag, for a message.</summary>
    public static string FormOf(TagInfo info)
    {
        if (info.Rank >= 1)
        {
            string list = info.Type switch
            {
                TagType.Boolean => "[true, false]",
                TagType.DateTime => "[\"2026-01-31T12:00:00Z\"]",
                TagType.String => "[\"a\", \"b\"]",
                _ => "[1, 2, 3]",
            };
            return $"a list of {info.Type}, such as {list}";
        }

        string values = info.Type switch
        {
            TagType.Boolean => ": true or false",
            TagType.SByte => $": {sbyte.MinValue} to {sbyte.MaxValue}",
            TagType.Byte => $": {byte.MinValue} to {byte.MaxValue}",
            TagType.Int16 => $": {short.MinValue} to {short.MaxValue}",
            TagType.UInt16 => $": {ushort.MinValue} to {ushort.MaxValue}",
            TagType.Int32 => $": {int.MinValue} to {int.MaxValue}",
            TagType.UInt32 => $": {uint.MinValue} to {uint.MaxValue}",
            TagType.Int64 => $": {long.MinValue} to {long.MaxValue}",
            TagType.UInt64 => $": {ulong.MinValue} to {ulong.MaxValue}",
            TagType.Float or TagType.Double => ", such as 1200.5",
            TagType.DateTime => ", such as 2026-01-31T12:00:00Z",
            _ => string.Empty,
        };
        return $"a value of type {info.Type}{values}";
    }

    private static bool TryParseScalar(string text, TagType type, out TagValue value)
    {
        // Without thousands separators: a decimal comma must not be taken for one.
        CultureInfo culture = CultureInfo.InvariantCulture;
        value = default;
        switch (type)
        {
            case TagType.Boolean when bool.TryParse(text, out bool flag):
                value = flag;
                return true;
            case TagType.SByte when sbyte.TryParse(text, culture, out sbyte number):
                value = TagValue.From(number);
                return true;
            case TagType.Byte when byte.TryParse(text, culture, out byte number):
                value = TagValue.From(number);
                return true;
            case TagType.Int16 when short.TryParse(text, culture, out short number):
                value = TagValue.From(number);
                return true;
            case TagType.UInt16 when ushort.TryParse(text, culture, out ushort number):
                value = TagValue.From(number);
                return true;
            case TagType.Int32 when int.TryParse(text, culture, out int number):
                value = number;
                return true;
            case TagType.UInt32 when uint.TryParse(text, culture, out uint number):
                value = number;
                return true;
            case TagType.Int64 when long.TryParse(text, culture, out long number):
                value = number;
                return true;
            case TagType.UInt64 when ulong.TryParse(text, culture, out ulong number):
                value = TagValue.From(number);
                return true;
            case TagType.Float when float.TryParse(text, NumberStyles.Float, culture, out float number) && IsMeant(number, text):
                value = number;
                return true;
            case TagType.Double when double.TryParse(text, NumberStyles.Float, culture, out double number) && IsMeant(number, text):
                value = number;
                return true;
            case TagType.DateTime when DateTime.TryParseExact(
                text, TimeFormats, culture, DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal, out DateTime time):
                value = time;
                return true;
            case TagType.String or TagType.XmlElement:
                value = TagValue.FromBytes(type, Encoding.UTF8.GetBytes(text));
                return true;
            default:
                return false;
        }
    }

    // A number with digits that is too large becomes infinite.
    private static bool IsMeant(double number, string text) => !double.IsInfinity(number) || !text.AsSpan().ContainsAnyInRange('0', '9');

    // A list in JSON, whose elements are read as scalars.
    private static bool TryParseArray(string text, TagType type, out TagValue value)
    {
        value = default;
        List<TagValue> elements = [];
        try
        {
            using JsonDocument list = JsonDocument.Parse(text);
            if (list.RootElement.ValueKind != JsonValueKind.Array)
            {
                return false;
            }

            foreach (JsonElement element in list.RootElement.EnumerateArray())
            {
                string one = element.ValueKind == JsonValueKind.String ? element.GetString()! : element.GetRawText();
                if (element.ValueKind is JsonValueKind.Null or JsonValueKind.Array or JsonValueKind.Object
                    || !TryParseScalar(one, type, out TagValue parsed))
                {
                    return false;
                }

                elements.Add(parsed);
            }
        }
        catch (JsonException)
        {
            return false;
        }

        value = type switch
        {
            TagType.Boolean => Of<bool>(),
            TagType.SByte => Of<sbyte>(),
            TagType.Byte => Of<byte>(),
            TagType.Int16 => Of<short>(),
            TagType.UInt16 => Of<ushort>(),
            TagType.Int32 => Of<int>(),
            TagType.UInt32 => Of<uint>(),
            TagType.Int64 => Of<long>(),
            TagType.UInt64 => Of<ulong>(),
            TagType.Float => Of<float>(),
            TagType.Double => Of<double>(),
            TagType.DateTime => Of<DateTime>(),
            TagType.String => Of<string>(),
            _ => default,
        };
        return !value.IsNull;

        TagValue Of<T>() => TagValue.FromArray<T>([.. elements.Select(static element => element.Get<T>())]);
    }
}
