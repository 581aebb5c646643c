namespace FastPort.Conformance.Wire;

/// <summary>The messages of tags, as far as the cases need them: tags.proto.</summary>
internal static class TagMessageKinds
{
    private static readonly Field Handles = Many(1, "handles", FieldKind.Fixed32);

    private static readonly Field[] Samples =
    [
        Number(1, "count"), new(2, "types", FieldKind.Bytes), Many(3, "statuses", FieldKind.Fixed32),
        Many(4, "sourceTimes", FieldKind.SignedFixed64), Many(5, "serverTimes", FieldKind.SignedFixed64),
        Many(6, "bools", FieldKind.Number), Many(7, "ints", FieldKind.SignedFixed32), Many(8, "uints", FieldKind.Fixed32),
        Many(9, "longs", FieldKind.SignedFixed64), Many(10, "ulongs", FieldKind.Fixed64), Many(11, "floats", FieldKind.Float),
        Many(12, "doubles", FieldKind.Double), Many(13, "sizes", FieldKind.SignedFixed32), new(14, "data", FieldKind.Bytes),
        Many(15, "lengths", FieldKind.SignedFixed32), Many(16, "dimensions", FieldKind.Fixed32),
    ];

    private static readonly Field[] Resolved =
    [
        new(1, "status", FieldKind.Fixed32), Number(2, "handle"), Number(3, "type"), new(4, "rank", FieldKind.Signed32),
        Number(5, "access"),
    ];

    public static readonly MessageKind[] All =
    [
        new("ResolveTags", 0x0200, 0, Many(1, "names", FieldKind.Text)),
        new("ResolvedTags", 0x0200, Frame.Reply, new Field(1, "tags", FieldKind.Message, Resolved, IsRepeated: true)),
        new("ReadTags", 0x0201, 0, Handles, Number(2, "maxAgeMs"), Number(3, "timeoutMs")),
        new("TagSamples", 0x0201, Frame.Reply, Samples),
        new("WriteTags", 0x0202, 0, Handles, Nested(2, "samples"), Number(3, "timeoutMs")),
        new("WrittenTags", 0x0202, Frame.Reply, Many(1, "statuses", FieldKind.Fixed32)),
        new("SubscribeTags", 0x0203, 0, Handles, Number(2, "intervalMs"), Number(3, "queueSize")),
        new(
            "SubscribedTags", 0x0203, Frame.Reply, Number(1, "subscription"), Number(2, "intervalMs"),
            Many(3, "statuses", FieldKind.Fixed32)),
        new("UnsubscribeTags", 0x0204, 0, Number(1, "subscription")),
        new(
            "TagUpdate", 0x0205, Frame.OneWay, Number(1, "subscription"), Number(2, "number"), Many(3, "handles", FieldKind.Fixed32),
            Nested(4, "samples"), Number(5, "dropped")),
        new("AcknowledgeUpdates", 0x0206, Frame.OneWay, Number(1, "subscription"), Number(2, "number")),
    ];

    private static Field Number(int number, string name) => new(number, name, FieldKind.Number);

    private static Field Many(int number, string name, FieldKind kind) => new(number, name, kind, IsRepeated: true);

    private static Field Nested(int number, string name) => new(number, name, FieldKind.Message, Samples);
}
