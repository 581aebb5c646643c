using System.Globalization;
using System.Text.Json.Nodes;
using FastPort.Tags;

namespace FastPort.Conformance.Adapter;

/// <summary>Samples and values of tags as JSON: numbers of 64 bits and times as decimal text, bytes in hexadecimal.</summary>
internal static class TagJson
{
    private static readonly DateTime FirstTime = new(1601, 1, 1, 0, 0, 0, DateTimeKind.Utc);

    public static JsonObject Of(in TagSample sample)
    {
        TagValue value = sample.Value;
        object? held = value.ToObject();
        return new JsonObject
        {
            ["tagType"] = (int)value.Type,
            ["content"] = value.IsArray && held is Array elements
                ? new JsonArray([.. elements.Cast<object?>().Select(Scalar)])
                : Scalar(held),
            ["dimensions"] = value.Dimensions.IsEmpty
                ? null
                : new JsonArray([.. value.Dimensions.ToArray().Select(static length => (JsonNode)length)]),
            ["status"] = sample.Status.Code,
            ["sourceTime"] = Time(sample.SourceTime),
            ["serverTime"] = Time(sample.ServerTime),
        };
    }

    public static TagValue ToValue(JsonObject value)
    {
        var type = (TagType)(int)value["tagType"]!;
        JsonNode? content = value["content"];
        int[] dimensions = [.. (value["dimensions"]?.AsArray() ?? []).Select(static length => (int)length!)];
        return type switch
        {
            TagType.Boolean => Value(static one => (bool)one!),
            TagType.SByte => Value(static one => (sbyte)(int)one!),
            TagType.Byte => Value(static one => (byte)(int)one!),
            TagType.Int16 => Value(static one => (short)(int)one!),
            TagType.UInt16 => Value(static one => (ushort)(int)one!),
            TagType.Int32 => Value(static one => (int)one!),
            TagType.UInt32 => Value(static one => (uint)one!),
            TagType.Int64 => Value(static one => long.Parse((string)one!, CultureInfo.InvariantCulture)),
            TagType.UInt64 => Value(static one => ulong.Parse((string)one!, CultureInfo.InvariantCulture)),
            TagType.Float => Value(static one => (float)one!),
            TagType.Double => Value(static one => (double)one!),
            TagType.String => Value(static one => (string?)one!),
            TagType.DateTime => Value(static one => FirstTime.AddTicks(long.Parse((string)one!, CultureInfo.InvariantCulture))),
            TagType.ByteString => Value(static one => Convert.FromHexString((string)one!)),
            TagType.StatusCode => Value(static one => new TagStatus((uint)one!)),
            _ => throw new InvalidOperationException($"Values of type {type} are not part of the cases."),
        };

        TagValue Value<T>(Func<JsonNode?, T> read) =>
            content is JsonArray elements ? TagValue.FromArray([.. elements.Select(read)], dimensions) : TagValue.From(read(content));
    }

    private static JsonNode? Scalar(object? value) => value switch
    {
        null => null,
        bool flag => flag,
        float number => number,
        double number => number,
        long or ulong => Convert.ToString(value, CultureInfo.InvariantCulture),
        string text => text,
        byte[] bytes => Convert.ToHexStringLower(bytes),
        DateTime time => Time(time),
        TagStatus status => status.Code,
        _ => Convert.ToInt64(value, CultureInfo.InvariantCulture),
    };

    private static string Time(DateTime time) => (time == default ? 0 : (time - FirstTime).Ticks).ToString(CultureInfo.InvariantCulture);
}
