using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf;

namespace FastPort.Protocol.Tests.Handlers;

/// <summary>Encoded <see cref="Mixed"/> messages: whole ones, and such as only a hostile or a later peer would send.</summary>
internal static class MixedBodies
{
    private static readonly Gen<byte[]> Bytes = Gen.Frequency((6, Gen.Choose(0, 20)), (1, Gen.Choose(100, 300)))
        .SelectMany(static length => Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf(length));

    // One field each, encoded by itself, so that any order and any number of them is a message.
    private static readonly Gen<byte[]> Field = Gen.OneOf(
        Bytes.Select(static b => new Mixed { First = ByteString.CopyFrom(b) }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Second = ByteString.CopyFrom(b) }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Far = ByteString.CopyFrom(b) }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Sixteenth = ByteString.CopyFrom(b) }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Maybe = ByteString.CopyFrom(b) }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Chosen = ByteString.CopyFrom(b) }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Many = { ByteString.CopyFrom(b) } }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Named = { { $"{b.Length}", ByteString.CopyFrom(b) } } }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Inner = new Mixed { First = ByteString.CopyFrom(b), Name = "inner" } }.ToByteArray()),
        Bytes.Select(static b => new Mixed { Name = Convert.ToHexString(b) }.ToByteArray()),
        Gen.Choose(0, int.MaxValue).Select(
            static i => new Mixed { Number = (uint)i, Word = (uint)i, Wide = (ulong)i, Skew = -i }.ToByteArray()),

        // An explicitly empty field, lent fields as numbers, unknown fields of each wire type, a group, and lengths in more bytes than they
        // need.
        Gen.Elements<byte[]>(
            [0x12, 0], [0x10, 0x96, 0x01], [0x15, 1, 2, 3, 4], [0x11, 1, 2, 3, 4, 5, 6, 7, 8], [0xA2, 0x06, 2, 7, 7],
            [0xA0, 0x06, 0xFF, 0xFF, 0x01],
            [0x9B, 0x06, 0x08, 0x01, 0x9C, 0x06], [0x12, 0x82, 0x00, 5, 6], [0x92, 0x00, 0x01, 9], [0x92, 0x80, 0x80, 0x80, 0x00, 0x01, 9],
            [0x92, 0x80, 0x80, 0x80, 0x10, 0x01, 9], [0x12, 0x81, 0x80, 0x80, 0x80, 0x70, 9],
            [0x12, 0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 9]));

    private static readonly Gen<byte[]> Whole = Field.ArrayOf()
        .Select(static fields => fields.Take(14).SelectMany(static f => f).ToArray());

    /// <summary>Any body: most parse, many do not.</summary>
    public static readonly Gen<byte[]> Any = Gen.Frequency(
        (6, Whole),
        (2, Whole.SelectMany(static body => Gen.Choose(0, body.Length).Select(length => body[..length]))),
        (3, Whole.SelectMany(static body => Gen.Choose(0, 255), static (body, value) => (body, value)).SelectMany(
            static x => Gen.Choose(0, Math.Max(0, x.body.Length - 1)),
            static (x, at) => x.body.Length == 0 ? [(byte)x.value] : (byte[])[.. x.body[..at], (byte)x.value, .. x.body[(at + 1)..]])),
        (2, Bytes));

    /// <summary>A message with something in every field.</summary>
    public static Mixed Full() => new()
    {
        Name = "name",
        First = ByteString.CopyFromUtf8("first"),
        Word = 3,
        Wide = 4,
        Skew = -5,
        Second = ByteString.CopyFromUtf8("second"),
        Chosen = ByteString.CopyFromUtf8("chosen"),
        Many = { ByteString.CopyFromUtf8("many"), ByteString.Empty },
        Inner = new Mixed { First = ByteString.CopyFromUtf8("inner") },
        Maybe = ByteString.CopyFromUtf8("maybe"),
        Named = { { "one", ByteString.CopyFromUtf8("1") } },
        Far = ByteString.CopyFromUtf8("far"),
        Sixteenth = ByteString.CopyFromUtf8("sixteenth"),
    };
}
