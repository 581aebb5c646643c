using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;

namespace FastPort.Conformance.Wire;

/// <summary>Bodies as JSON: numbers as decimal text when they are read, bytes in the notation of <see cref="Bytes"/>.</summary>
internal static class MessageBody
{
    public static byte[] Encode(Field[] fields, JsonObject values)
    {
        using var message = new MemoryStream();
        foreach ((string name, JsonNode? value) in values)
        {
            Field field = Array.Find(fields, field => field.Name == name)
                ?? throw new FormatException(
                    $"There is no field '{name}'; there are {string.Join(", ", fields.Select(static f => f.Name))}.");
            foreach (JsonNode? one in field.IsRepeated ? value!.AsArray() : (IEnumerable<JsonNode?>)[value])
            {
                Write(message, field, one!);
            }
        }

        return message.ToArray();
    }

    /// <summary>All fields of the message; those that are absent have their defaults.</summary>
    /// <exception cref="CaseFailureException">The bytes are not such a message.</exception>
    public static JsonObject Decode(Field[] fields, ReadOnlySpan<byte> body)
    {
        JsonObject values = [];
        foreach (Field field in fields)
        {
            values[field.Name] = field.IsRepeated ? new JsonArray() : field.Kind switch
            {
                FieldKind.Number => "0",
                FieldKind.Message => null,
                _ => string.Empty,
            };
        }

        foreach ((int number, ulong value, byte[]? bytes) in Proto.Read(body))
        {
            if (Array.Find(fields, field => field.Number == number) is not { } field)
            {
                continue;
            }

            if ((bytes is null) != (field.Kind == FieldKind.Number))
            {
                throw new CaseFailureException($"The client sent a body whose field {number}, '{field.Name}', has another type.");
            }

            JsonNode read = field.Kind switch
            {
                FieldKind.Number => value.ToString(CultureInfo.InvariantCulture),
                FieldKind.Text => Encoding.UTF8.GetString(bytes!),
                FieldKind.Bytes => Convert.ToHexStringLower(bytes!),
                _ => Decode(field.Fields!, bytes),
            };
            if (field.IsRepeated)
            {
                values[field.Name]!.AsArray().Add(read);
            }
            else
            {
                values[field.Name] = read;
            }
        }

        return values;
    }

    private static void Write(MemoryStream message, Field field, JsonNode value)
    {
        switch (field.Kind)
        {
            case FieldKind.Number:
                Proto.WriteVarint(message, field.Number, ulong.Parse(Values.TextOf(value), CultureInfo.InvariantCulture));
                break;
            case FieldKind.Text:
                Proto.WriteBytes(message, field.Number, Encoding.UTF8.GetBytes(Values.TextOf(value)));
                break;
            case FieldKind.Bytes:
                Proto.WriteBytes(message, field.Number, Bytes.Parse(Values.TextOf(value)));
                break;
            default:
                Proto.WriteBytes(message, field.Number, Encode(field.Fields!, value.AsObject()));
                break;
        }
    }
}
