namespace FastPort.Conformance.Wire;

/// <summary>A field of a message.</summary>
/// <param name="Number">Its number.</param>
/// <param name="Name">Its name in the cases.</param>
/// <param name="Kind">How it is encoded.</param>
/// <param name="Fields">The fields of a field that is a message; null otherwise.</param>
/// <param name="IsRepeated">Whether there are any number of them.</param>
internal sealed record Field(int Number, string Name, FieldKind Kind, Field[]? Fields = null, bool IsRepeated = false)
{
    /// <summary>Whether its values lie one after the other in one field of the encoding.</summary>
    public bool IsPacked => IsRepeated && Kind.IsNumber();
}

/// <summary>A kind of frame, by the name that the cases give it.</summary>
/// <param name="Name">The name.</param>
/// <param name="Type">Its message type; null if the case names it.</param>
/// <param name="Flags">Those of <see cref="Frame.KindMask"/>.</param>
/// <param name="Fields">The fields of its body; empty if the case writes the body as bytes.</param>
internal sealed record MessageKind(string Name, ushort? Type, byte Flags, params Field[] Fields)
{
    private static readonly Field[] Any = [Text(1, "typeUrl"), Raw(2, "value")];
    private static readonly Field[] Topic = [Text(1, "prefix")];
    private static readonly Field[] Publication = [Text(1, "topic"), Number(2, "type"), Raw(3, "body"), Text(4, "from")];
    private static readonly Field[] Relay = [Text(1, "to"), Number(2, "type"), Raw(3, "body"), Text(4, "from")];

    private static readonly Field[] Peer = [Number(1, "sessionId"), Text(2, "routingId"), Text(3, "clientName")];

    private static readonly Dictionary<string, MessageKind> ByName = new MessageKind[]
    {
        new("Hello", 0x0001, 0, Text(1, "routingId"), Text(2, "token"), Text(3, "clientName"), Number(4, "extensions")),
        new(
            "Welcome", 0x0001, Frame.Reply, Number(1, "sessionId"), Text(2, "serverName"), Number(3, "maxFrameBytes"),
            Number(4, "heartbeatMs"), Number(5, "extensions")),
        new("Ping", 0x0002, 0),
        new("Pong", 0x0002, Frame.Reply),
        new("Goodbye", 0x0003, Frame.OneWay, Number(1, "code"), Text(2, "reason")),
        new("Relay", 0x0004, 0, Relay),
        new("Relayed", 0x0004, Frame.OneWay, Relay),
        new("Subscribe", 0x0005, 0, Topic),
        new("Unsubscribe", 0x0006, 0, Topic),
        new("Publish", 0x0007, 0, Publication),
        new("Published", 0x0007, Frame.OneWay, Publication),
        new("Delivered", 0x0007, Frame.Reply, Number(1, "sessions")),
        new("Peers", 0x0008, 0, Text(1, "prefix"), Number(2, "limit"), Text(3, "after")),
        new("PeerList", 0x0008, Frame.Reply, new Field(1, "peers", FieldKind.Message, Peer, IsRepeated: true)),
        new("Cancel", 0x0009, Frame.OneWay, Number(1, "correlation")),
        new("Credit", 0x000a, Frame.OneWay, Number(1, "correlation"), Number(2, "messages"), Number(3, "bytes"), Number(4, "of")),
        new("Request", null, 0),
        new("Reply", null, Frame.Reply),
        new(
            "Error", null, Frame.Reply | Frame.Error, Number(1, "code"), Text(2, "message"),
            new Field(3, "detail", FieldKind.Message, Any)),
        new("OneWay", null, Frame.OneWay),
        new("RequestItem", null, Frame.More),
        new("ReplyItem", null, Frame.Reply | Frame.More),
    }.Concat(TagMessageKinds.All).ToDictionary(static kind => kind.Name, StringComparer.Ordinal);

    /// <exception cref="FormatException">There is no such name.</exception>
    public static MessageKind Get(string name) => ByName.TryGetValue(name, out MessageKind? kind)
        ? kind
        : throw new FormatException($"There is no message '{name}'; there are {string.Join(", ", ByName.Keys)}.");

    /// <summary>The kind of a frame, for messages about it.</summary>
    public static string NameOf(Frame frame) =>
        ByName.Values.FirstOrDefault(kind => kind.Fits(frame) && kind.Type is not null)?.Name
        ?? ByName.Values.FirstOrDefault(kind => kind.Fits(frame))?.Name
        ?? "a frame of no kind";

    /// <summary>A frame for messages and logs: its name, its header, its body, and the fields of a body that has some.</summary>
    public static string Describe(Frame frame)
    {
        string name = NameOf(frame);
        if (!ByName.TryGetValue(name, out MessageKind? kind) || kind.Fields.Length == 0)
        {
            return $"{name}, {frame}";
        }

        try
        {
            string fields = MessageBody.Decode(kind.Fields, frame.Body).ToJsonString();
            return $"{name}, {frame} {(fields.Length <= 300 ? fields : $"{fields[..300]}...")}";
        }
        catch (CaseFailureException e)
        {
            return $"{name}, {frame}: {e.Message}";
        }
    }

    /// <summary>Whether a frame is of this kind.</summary>
    public bool Fits(Frame frame) => (frame.Flags & Frame.KindMask) == Flags && (Type ?? frame.Type) == frame.Type;

    private static Field Text(int number, string name) => new(number, name, FieldKind.Text);

    private static Field Number(int number, string name) => new(number, name, FieldKind.Number);

    private static Field Raw(int number, string name) => new(number, name, FieldKind.Bytes);
}
