using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

/// <summary>Replies made of the request's own bytes are what was asked, whatever their sizes and however slowly they are read.</summary>
public sealed class InputReplyTests
{
    private const ushort Same = 0x1100;
    private const ushort Part = 0x1101;
    private const ushort Changed = 0x1102;
    private const int Head = 5;

    [Theory]
    [InlineData(TransportKind.Auto, 0)]
    [InlineData(TransportKind.Auto, 4096)]
    [InlineData(TransportKind.Sockets, 4096)]
    public async Task Whatever_the_sizes_and_however_slowly_they_are_read_replies_are_what_was_asked(
        TransportKind transport, int receiveBuffer)
    {
        await using TestServer server = await TestServer.StartAsync(Map, options => options.Transport = transport);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer);
        var random = new Random(receiveBuffer + 1);
        (ushort Type, byte[] Body)[] requests = [.. Enumerable.Range(1, 250).Select(i =>
            ((ushort)(Same + random.Next(3)), Wire.Bytes(
                random.Next(4) switch { 0 => random.Next(100), 1 => random.Next(3_000, 9_000), _ => random.Next(9_000, 120_000) }, i)))];

        Task sending = Task.Run(async () =>
        {
            for (uint i = 0; i < requests.Length; i++)
            {
                await peer.SendAsync(Wire.Request(requests[i].Type, i + 1, requests[i].Body, i % 2 == 0 ? Wire.Timing : (byte)0));
            }
        });
        for (uint i = 0; i < requests.Length; i++)
        {
            WireFrame reply = await peer.ReadFrameAsync();
            Assert.Equal(i + 1, reply.Correlation);
            Assert.Equal(i % 2 == 0, reply.IsTimed);
            byte[] expected = Expected(requests[i].Type, requests[i].Body);
            Assert.True(
                expected.AsSpan().SequenceEqual(reply.Body),
                $"Reply {i + 1} to 0x{requests[i].Type:X4} of {requests[i].Body.Length} bytes is not what was asked.");
        }

        await sending;
    }

    [Fact]
    public async Task Where_the_peer_stops_reading_in_the_middle_the_input_is_free_for_others_all_the_same()
    {
        await using TestServer server = await TestServer.StartAsync(Map);
        using RawPeer slow = await server.ConnectKnownAsync(4096);
        using RawPeer other = await server.ConnectKnownAsync();
        byte[][] bodies = [.. Enumerable.Range(1, 200).Select(static i => Wire.Bytes(60_000, i))];

        // More than the sockets hold: some of the replies wait at the server, which takes no more requests then.
        Task sending = slow.SendAsync([.. bodies.Select(static (body, i) => Wire.Request(Same, (uint)i + 1, body))]);
        Session session = server.Opened[0];
        await Patience.UntilSteadyAsync(() => session.MessagesReceived, "the server took no more");
        Assert.InRange(session.MessagesReceived, 1, bodies.Length - 1);

        for (uint i = 1; i <= 50; i++)
        {
            byte[] body = Wire.Bytes(70_000, 1_000 + (int)i);
            WireFrame reply = await other.CallAsync(Wire.Request(Same, i, body));
            Assert.True(body.AsSpan().SequenceEqual(reply.Body));
        }

        for (int i = 0; i < bodies.Length; i++)
        {
            WireFrame reply = await slow.ReadFrameAsync();
            Assert.True(bodies[i].AsSpan().SequenceEqual(reply.Body), $"Reply {i + 1} is not what was asked.");
        }

        await sending;
    }

    [Fact]
    public async Task A_reply_over_the_limit_is_an_error_and_the_session_goes_on()
    {
        await using TestServer server = await TestServer.StartAsync(
            static handlers => handlers.MapInline(Same, AddHundred),
            options => options.Session.MaxFrameBytes = 65_536);
        using RawPeer peer = await server.ConnectKnownAsync();
        byte[] large = Wire.Bytes(65_500);

        WireFrame reply = await peer.CallAsync(Wire.Request(Same, 1, large));

        Assert.True(reply.IsError);
        Assert.Equal((uint)ErrorCode.ReplyTooLarge, reply.NumberAt(1));
        Assert.Equal(40_100, (await peer.CallAsync(Wire.Request(Same, 2, Wire.Bytes(40_000)))).Body.Length);
    }

    private static void AddHundred(ref InlineRequest request)
    {
        Assert.True(request.TryGetBodySpan(out ReadOnlySpan<byte> body));
        request.Reply((byte[])[.. new byte[100], .. body]);
    }

    private static void Map(MessageHandlers handlers) => handlers
        .MapInline(
            Same,
            static (ref InlineRequest request) =>
            {
                if (request.TryGetBodySpan(out ReadOnlySpan<byte> body))
                {
                    request.Reply(body);
                }
                else
                {
                    request.Reply(new SequenceBody(request.Body));
                }
            })
        .MapInline(
            Part,
            static (ref InlineRequest request) =>
            {
                if (!request.TryGetBodySpan(out ReadOnlySpan<byte> body))
                {
                    body = System.Buffers.BuffersExtensions.ToArray(request.Body);
                }

                request.Reply((byte[])[.. HeadOf(body.Length), .. body[(body.Length / 10)..]]);
            })
        .MapInline(
            Changed,
            static (ref InlineRequest request) =>
            {
                // An array of the handler's own, which it uses again.
                byte[] own = System.Buffers.BuffersExtensions.ToArray(request.Body);
                own.AsSpan().Reverse();
                request.Reply(own);
                own.AsSpan().Clear();
            });

    private static byte[] HeadOf(int length) => [.. BitConverter.GetBytes(length), (byte)Head];

    private static byte[] Expected(ushort type, byte[] body) => type switch
    {
        Same => body,
        Part => [.. HeadOf(body.Length), .. body[(body.Length / 10)..]],
        _ => [.. body.Reverse()],
    };
}
