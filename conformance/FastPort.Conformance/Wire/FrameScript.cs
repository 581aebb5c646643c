using System.Globalization;
using System.Text.Json.Nodes;

namespace FastPort.Conformance.Wire;

/// <summary>Frames as the cases write them: a message's name, then fields. One of these per case: it remembers frames by name.</summary>
internal sealed class FrameScript(Values values)
{
    private readonly Dictionary<string, Frame> _frames = new(StringComparer.Ordinal);

    /// <summary>The bytes of a frame to send.</summary>
    /// <param name="name">The message's name.</param>
    /// <param name="step">The step, whose values have names.</param>
    public byte[] Write(string name, JsonObject step)
    {
        MessageKind kind = MessageKind.Get(name);
        step = values.Resolve(step)!.AsObject();
        Frame? asked = step["to"] is { } to ? Named(to) : null;
        byte[] body = step["body"] is { } bytes
            ? Bytes.Parse(Values.TextOf(bytes))
            : MessageBody.Encode(kind.Fields, step["fields"]?.AsObject() ?? []);
        byte flags = kind.Flags;
        if (step["timing"] is not null)
        {
            flags |= Frame.Timing;
        }

        if (step["deadline"] is not null)
        {
            flags |= Frame.Deadline;
        }

        if (step["trace"] is not null)
        {
            flags |= Frame.Trace;
        }

        JsonNode? type = step["type"] ?? kind.Type ?? asked?.Type;
        var frame = new Frame(
            type is null ? throw new FormatException($"{name} needs a type.") : (ushort)Number(type, 0),
            (byte)Number(step["flags"], flags),
            (uint)Number(step["correlation"], asked?.Correlation ?? 0),
            [.. body, .. Bytes.Parse(Values.TextOf(step["more"] ?? string.Empty))])
        {
            Version = (byte)Number(step["version"], 1),
            TimingBlock = step["timing"] is JsonArray { Count: 2 } times ? (Number(times[0], 0), Number(times[1], 0)) : default,
            TraceBlock = Bytes.Parse(Values.TextOf(step["trace"] ?? string.Empty)),
            DeadlineBlock = (uint)Number(step["deadline"], 0),
        };
        byte[] written = frame.ToBytes();
        if (step["length"] is { } length)
        {
            BitConverter.TryWriteBytes(written, (uint)Number(length, 0));
        }

        return step["first"] is { } first ? written[..(int)Number(first, 0)] : written;
    }

    /// <summary>Why a frame is not the expected one; null if it is. Then it has its name.</summary>
    public string? Mismatch(JsonObject step, Frame frame)
    {
        string name = Values.TextOf(step["expect"]);
        MessageKind kind = MessageKind.Get(name);
        if (!kind.Fits(frame))
        {
            return $"it is {MessageKind.NameOf(frame)}, not {name}";
        }

        Frame? asked = step["to"] is { } to ? Named(to) : null;
        string? problem = Compare("type", step["type"] ?? asked?.Type, frame.Type)
            ?? Compare("correlation", step["correlation"] ?? asked?.Correlation, frame.Correlation)
            ?? Compare("deadline", step["deadline"], (frame.Flags & Frame.Deadline) == 0 ? null : frame.DeadlineBlock)
            ?? Compare("timing", step["timing"], (frame.Flags & Frame.Timing) != 0)
            ?? CompareBody(kind, step, frame);
        if (problem is null && step["as"] is { } alias)
        {
            _frames[Values.TextOf(alias)] = frame;
            values.Set(Values.TextOf(alias), frame.Correlation);
        }

        return problem;

        string? Compare(string what, JsonNode? expected, JsonNode? actual) =>
            expected is null && !(step.ContainsKey(what) && step[what] is null) ? null : values.Mismatch(what, expected, actual);
    }

    private static ulong Number(JsonNode? value, ulong otherwise) =>
        value is null ? otherwise : ulong.Parse(Values.TextOf(value), CultureInfo.InvariantCulture);

    private string? CompareBody(MessageKind kind, JsonObject step, Frame frame)
    {
        if (step["body"] is { } body)
        {
            string expected = Convert.ToHexStringLower(Bytes.Parse(Values.TextOf(values.Resolve(body))));
            return values.Mismatch("body", expected, Convert.ToHexStringLower(frame.Body));
        }

        if (kind.Fields.Length == 0 && kind.Type is not null && frame.Body.Length != 0)
        {
            return $"its body has {frame.Body.Length} bytes, not none";
        }

        return values.ResolveKnown(step["fields"]) is { } fields
            ? values.Mismatch(kind.Name, InHex(kind.Fields, fields.AsObject()), MessageBody.Decode(kind.Fields, frame.Body))
            : null;
    }

    // The message's own text of bytes is hexadecimal.
    private static JsonObject InHex(Field[] fields, JsonObject expected) => new(expected.Select(one => KeyValuePair.Create(
        one.Key, InHex(Array.Find(fields, field => field.Name == one.Key), one.Value))));

    private static JsonNode? InHex(Field? field, JsonNode? expected) => (field?.Kind, expected) switch
    {
        (_, JsonArray items) => new JsonArray([.. items.Select(item => InHex(field, item))]),
        (FieldKind.Message, JsonObject fields) => InHex(field!.Fields!, fields),
        (FieldKind.Bytes, JsonValue bytes) => Convert.ToHexStringLower(Bytes.Parse(Values.TextOf(bytes))),
        _ => expected?.DeepClone(),
    };

    private Frame Named(JsonNode name) => _frames.TryGetValue(Values.TextOf(name), out Frame? frame)
        ? frame
        : throw new FormatException($"No frame has the name '{Values.TextOf(name)}'.");
}
