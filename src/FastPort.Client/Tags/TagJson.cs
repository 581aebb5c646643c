using System.Text;
using System.Text.Json;
using FastPort.Tags;

namespace FastPort.Client.Tags;

/// <summary>Tags as JSON: numbers as numbers, ids and names as text, other bytes as base64, arrays as arrays.</summary>
internal static class TagJson
{
    public static string Of(Action<Utf8JsonWriter> write, bool isIndented)
    {
        using var bytes = new MemoryStream();
        using (var writer = new Utf8JsonWriter(bytes, new JsonWriterOptions { Indented = isIndented }))
        {
            write(writer);
        }

        return Encoding.UTF8.GetString(bytes.ToArray());
    }

    public static void Write(Utf8JsonWriter writer, string name, in TagSample sample)
    {
        writer.WriteStartObject();
        writer.WriteString("name", name);
        writer.WritePropertyName("value");
        WriteValue(writer, sample.Value.ToObject(), sample.Value.Type);
        writer.WriteString("type", $"{sample.Value.Type}{(sample.Value.IsArray ? "[]" : string.Empty)}");
        writer.WriteString("status", $"{sample.Status}");
        WriteTime(writer, "sourceTime", sample.SourceTime);
        WriteTime(writer, "serverTime", sample.ServerTime);
        writer.WriteEndObject();
    }

    public static void Write(Utf8JsonWriter writer, in TagBrowseNode node)
    {
        writer.WriteStartObject();
        writer.WriteString("name", node.Name);
        writer.WriteString("displayName", node.DisplayName);
        writer.WriteString("kind", $"{node.Kind}");
        writer.WriteBoolean("hasChildren", node.HasChildren);
        writer.WriteEndObject();
    }

    private static void WriteTime(Utf8JsonWriter writer, string name, DateTime time)
    {
        if (time != default)
        {
            writer.WriteString(name, time);
        }
    }

    private static void WriteValue(Utf8JsonWriter writer, object? value, TagType type)
    {
        switch (value)
        {
            case null:
                writer.WriteNullValue();
                break;
            case bool flag:
                writer.WriteBooleanValue(flag);
                break;
            case sbyte or byte or short or ushort or int or uint or long:
                writer.WriteNumberValue(Convert.ToInt64(value, null));
                break;
            case ulong number:
                writer.WriteNumberValue(number);
                break;
            case float number when float.IsFinite(number):
                writer.WriteNumberValue(number);
                break;
            case double number when double.IsFinite(number):
                writer.WriteNumberValue(number);
                break;
            case DateTime time:
                writer.WriteStringValue(time);
                break;
            case byte[] bytes when type is TagType.Guid or TagType.NodeId or TagType.ExpandedNodeId or TagType.QualifiedName
                or TagType.LocalizedText:
                writer.WriteStringValue($"{TagValue.FromBytes(type, bytes)}");
                break;
            case byte[] bytes:
                writer.WriteBase64StringValue(bytes);
                break;
            case Array array:
                writer.WriteStartArray();
                foreach (object? element in array)
                {
                    WriteValue(writer, element, type);
                }

                writer.WriteEndArray();
                break;
            default:
                writer.WriteStringValue(Convert.ToString(value, System.Globalization.CultureInfo.InvariantCulture));
                break;
        }
    }
}
