using System.Buffers;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

/// <summary>The three ways to an inline request's body show the same bytes.</summary>
public sealed class InlineBodyTests
{
    private const ushort Inline = 0x1001;
    private const ushort Queued = 0x1002;
    private const int Largest = 50_000;

    [Fact]
    public async Task In_one_piece_or_across_the_wrap_of_the_ring()
    {
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapInline(Inline, Compare), static o => o.Session.MaxFrameBytes = 64 * 1024);
        using RawPeer peer = await server.ConnectAsync();
        var random = new Random(7);
        byte[][] bodies = [.. Enumerable.Range(0, 150).Select(i => Wire.Bytes(random.Next(Largest), i))];
        byte[] stream = [.. bodies.SelectMany(static (body, i) => Wire.Request(Inline, (uint)i + 1, body))];

        // Cut anywhere, so that the start of a frame is left in the ring when more comes.
        Task sending = SendAsync(peer, stream);
        foreach (byte[] body in bodies)
        {
            Assert.Equal(body, (await peer.ReadFrameAsync()).Body);
        }

        await sending.InTimeAsync();
    }

    [Fact]
    public async Task Behind_a_request_that_waits()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(Inline, Compare).MapQueued(Queued, async _ => await release.Task), static o => o.Session.MaxConcurrency = 1);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(
            Wire.Request(Queued, 1), Wire.Request(Queued, 2), Wire.Request(Inline, 3, Wire.Bytes(100)), Wire.Request(Inline, 4));
        await peer.PingAsync();

        release.SetResult();

        Dictionary<uint, WireFrame> replies = [];
        while (replies.Count < 4)
        {
            WireFrame reply = await peer.ReadFrameAsync();
            replies.Add(reply.Correlation, reply);
        }

        Assert.Equal(Wire.Bytes(100), replies[3].Body);
        Assert.Empty(replies[4].Body);
    }

    private static async Task SendAsync(RawPeer peer, byte[] stream)
    {
        const int Piece = 37_001;
        for (int sent = 0; sent < stream.Length; sent += Piece)
        {
            await peer.SendAsync(stream[sent..Math.Min(stream.Length, sent + Piece)]);
        }
    }

    private static void Compare(ref InlineRequest request)
    {
        byte[] body = request.Body.ToArray();
        bool whole = request.TryGetBodySpan(out ReadOnlySpan<byte> span);
        bool wholeMemory = request.TryGetBodyMemory(out ReadOnlyMemory<byte> memory);
        if (request.BodySize != body.Length || whole != request.Body.IsSingleSegment || (whole && !span.SequenceEqual(body))
            || whole != wholeMemory || !span.SequenceEqual(memory.Span))
        {
            throw new InvalidOperationException("The bodies differ.");
        }

        request.Reply(body);
    }
}
