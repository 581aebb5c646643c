using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf;
using Xunit;

namespace FastPort.Protocol.Tests.Handlers;

/// <summary>
/// Lent fields change nothing but who owns them: any body means the same to a handler with them as to one without, or is refused by both.
/// </summary>
public sealed class BorrowedBytesPropertyTests
{
    private const ushort Copied = 0x1000;
    private const ushort Lent = 0x1001;
    private const ushort Queued = 0x1002;
    private const string Refused = "refused:";

    [Fact]
    public async Task Any_body_parses_to_the_same_message_or_is_refused_by_both()
    {
        await using Loopback loop = await Loopback.StartAsync(Map(Mixed.Parser));
        int parsed = 0;
        int refused = 0;

        CheckAny(loop.Client, 5000, answer => _ = answer.StartsWith(Refused, StringComparison.Ordinal) ? refused++ : parsed++);

        // Or the comparison would say little.
        Assert.True(parsed > 1000 && refused > 500, $"{parsed} parsed, {refused} refused");
    }

    [Fact]
    public async Task A_parser_that_discards_unknown_fields_still_does()
    {
        await using Loopback loop = await Loopback.StartAsync(Map(Mixed.Parser.WithDiscardUnknownFields(true)));
        CheckAny(loop.Client, 500);

        byte[] unknown = [0x12, 1, 9, 0xA2, 0x06, 2, 7, 7, 0x32, 1, 8];
        Assert.Equal([0x12, 1, 9, 0x32, 1, 8], await loop.Client.RequestAsync(Lent, unknown));
    }

    [Fact]
    public async Task Every_length_and_split_of_a_field_is_found()
    {
        await using Loopback loop = await Loopback.StartAsync(Map(Mixed.Parser));
        var bodies = new List<byte[]>();
        for (int length = 0; length < 300; length++)
        {
            var mixed = new Mixed
            {
                Name = "n",
                First = ByteString.CopyFrom(new byte[length]),
                Word = 7,
                Far = ByteString.CopyFromUtf8("far"),
            };
            byte[] full = mixed.ToByteArray();
            bodies.Add(full);
        }

        // Alone, with a tag of one byte and of two, and behind a length that says more or less than there is.
        foreach (int length in (int[])[0, 1, 2, 3, 126, 127, 128, 129, 255, 256, 16_383, 16_384, 16_385])
        {
            ByteString payload = ByteString.CopyFrom([.. Enumerable.Range(0, length).Select(static i => (byte)(i * 7))]);
            byte[] alone = new Mixed { First = payload }.ToByteArray();
            bodies.AddRange(
                [alone, new Mixed { Sixteenth = payload }.ToByteArray(), [.. alone, 0], [
                    .. alone, .. alone], alone[..Math.Max(0, alone.Length - 1)]]);
        }

        // What ends behind the first byte of a tag of two, and what follows it taken for a length.
        bodies.AddRange(
            [[0x82], [0x82, 0x01], [0x82, 0x02, 7, 7], [0x82, 0x01, 2, 7], [0x12, 0x80], [0x12, 0x80, 0x80, 0], [0x12, 0xFF, 0x7F], [
                0x12, 0x82, 0x00, 5, 6]]);

        byte[] every = MixedBodies.Full().ToByteArray();
        bodies.AddRange(Enumerable.Range(0, every.Length).Select(cut => every[..cut]));

        await CompareAsync(loop.Client, bodies);
    }

    [Fact]
    public async Task More_fields_than_there_is_room_for_are_copied()
    {
        await using Loopback loop = await Loopback.StartAsync(Map(Mixed.Parser));
        byte[] twice = [
            .. Enumerable.Range(0, 40).SelectMany(
                static i => new Mixed { First = ByteString.CopyFromUtf8($"{i}"), Skew = i }.ToByteArray())];

        Assert.Equal("39", Mixed.Parser.ParseFrom(await loop.Client.RequestAsync(Lent, twice)).First.ToStringUtf8());
    }

    private static MessageHandlers Map(MessageParser<Mixed> parser) => new MessageHandlers()
        .MapInline(Copied, parser, static (mixed, _) => mixed)
        .MapInline(Lent, parser, static (mixed, _) => mixed, BytesFields.Borrowed)
        .MapQueued(Queued, parser, static (mixed, _) => new ValueTask<Mixed>(mixed), BytesFields.Borrowed);

    private static void CheckAny(FastPortClient client, int bodies, Action<string>? seen = null) => Check.One(
        Config.QuickThrowOnFailure.WithMaxTest(bodies).WithQuietOnSuccess(true).WithReplay(new Replay(new Rnd(6628, 1), null)),
        Prop.ForAll(MixedBodies.Any.ToArbitrary(), body => Task.Run(() => CompareAsync(client, [body], seen)).GetAwaiter().GetResult()));

    private static async Task CompareAsync(FastPortClient client, IEnumerable<byte[]> bodies, Action<string>? seen = null)
    {
        foreach (byte[] body in bodies)
        {
            string copied = await AnswerAsync(client, Copied, body);
            Assert.Equal(copied, await AnswerAsync(client, Lent, body));
            Assert.Equal(copied, await AnswerAsync(client, Queued, body));
            seen?.Invoke(copied);
        }
    }

    private static async Task<string> AnswerAsync(FastPortClient client, ushort type, byte[] body)
    {
        try
        {
            return Convert.ToHexString(await client.RequestAsync(type, body));
        }
        catch (RequestFailedException failure)
        {
            return $"{Refused} {failure.Code}";
        }
    }
}
