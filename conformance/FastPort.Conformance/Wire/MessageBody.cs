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
            if (field.IsPacked)
            {
                using var packed = new MemoryStream();
                foreach (JsonNode? one in value!.AsArray())
                {
                    Proto.WriteNumber(packed, field.Kind.Wire(), field.Kind.ToBits(Values.TextOf(one)));
                }

                Proto.WriteBytes(message, field.Number, packed.ToArray());
                continue;
            }

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
                FieldKind.Message => null,
                FieldKind.Text or FieldKind.Bytes => string.Empty,
                _ => "0",
            };
        }

        foreach ((int number, int wire, ulong bits, byte[] bytes) in Proto.Read(body))
        {
            if (Array.Find(fields, field => field.Number == number) is not { } field)
            {
                continue;
            }

            if (field.IsPacked && wire == Proto.BytesWire)
            {
                Proto.ReadPacked(bytes, field.Kind.Wire()).ForEach(one => values[field.Name]!.AsArray().Add(field.Kind.ToText(one)));
                continue;
            }

            if (wire != field.Kind.Wire())
            {
                throw new CaseFailureException($"The client sent a body whose field {number}, '{field.Name}', has another type.");
            }

            JsonNode read = field.Kind switch
            {
                FieldKind.Text => Encoding.UTF8.GetString(bytes),
                FieldKind.Bytes => Convert.ToHexStringLower(bytes),
                FieldKind.Message => Decode(field.Fields!, bytes),
                _ => field.Kind.ToText(bits),
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
            case FieldKind.Text:
                Proto.WriteBytes(message, field.Number, Encoding.UTF8.GetBytes(Values.TextOf(value)));
                break;
            case FieldKind.Bytes:
                Proto.WriteBytes(message, field.Number, Bytes.Parse(Values.TextOf(value)));
                break;
            case FieldKind.Message:
                Proto.WriteBytes(message, field.Number, Encode(field.Fields!, value.AsObject()));
                break;
            default:
                Proto.WriteNumber(message, field.Number, field.Kind.Wire(), field.Kind.ToBits(Values.TextOf(value)));
                break;
        }
    }
}
