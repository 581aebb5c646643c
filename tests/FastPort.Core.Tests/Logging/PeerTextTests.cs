using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Logging;

/// <summary>
/// What peers write stands in the log cut, escaped and in small numbers, and not at all before they have said who they are.
/// </summary>
public sealed class PeerTextTests
{
    private const string Forged = "nothing\r\n12:00:00 INF forged \u001b[31m\u0085\u2028\u2029\u009b\u202e\u200b\\";

    private static byte[] ErrorAboutTheConnection(string text) =>
        Wire.Frame(0, Wire.Reply | Wire.Error, 0, [.. Wire.Number(1, 8), .. Wire.Text(2, text)]);

    [Fact]
    public async Task Of_a_peer_that_has_not_said_Hello_no_text_is_logged()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(ErrorAboutTheConnection(Forged + new string('x', 1_000_000)), Wire.PingRequest(1));
        await peer.ReadFrameAsync();
        await peer.SendAsync(Wire.GoodbyePost(3, Forged));
        await peer.ExpectEndAsync();
        peer.Dispose();
        await server.CloseReasonAsync();

        LogLine line = Assert.Single(server.Log.WithId(2006));
        Assert.Contains("Overloaded", line.Text, StringComparison.Ordinal);
        Assert.All(
            server.Log.Lines, static l => Assert.True(l.Text.Length < 500 && !l.Text.Contains("forged", StringComparison.Ordinal), l.Text));
    }

    [Fact]
    public async Task Of_a_known_peer_text_is_cut_and_escaped()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();

        await peer.SendAsync(ErrorAboutTheConnection(Forged + new string('x', 100_000)), Wire.PingRequest(1));
        await peer.ReadFrameAsync();
        await peer.SendAsync(Wire.GoodbyePost(3, Forged));
        await peer.ExpectEndAsync();
        peer.Dispose();
        await server.CloseReasonAsync();

        const string Escaped = @"nothing\u000D\u000A12:00:00 INF forged \u001B[31m\u0085\u2028\u2029\u009B\u202E\u200B\\";
        LogLine error = Assert.Single(server.Log.WithId(2006));
        Assert.Contains(Escaped, error.Text, StringComparison.Ordinal);
        Assert.InRange(error.Text.Count(static c => c == 'x'), 100, 256);
        Assert.Contains(Escaped, Assert.Single(server.Log.WithId(2001)).Text, StringComparison.Ordinal);
        Assert.All(server.Log.Lines, static l => Assert.DoesNotContain(l.Text, char.IsControl));
    }

    [Fact]
    public async Task What_an_authenticator_says_about_a_token_is_escaped_in_the_log()
    {
        await using TestServer server = await TestServer.StartAsync(
            components: static h => h.Authenticator =
                static (hello, _) => ValueTask.FromResult(AuthenticationResult.Refuse($"No such machine: {hello.Token}.")));
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(5u, (await peer.CallAsync(Wire.HelloRequest(1, token: Forged))).ErrorCode);
        await peer.ExpectEndAsync();
        peer.Dispose();
        await server.CloseReasonAsync();

        Assert.NotEmpty(server.Log.WithId(2002));
        Assert.All(server.Log.Lines, static l => Assert.DoesNotContain(l.Text, char.IsControl));
    }

    [Fact]
    public async Task Warnings_about_peers_are_few_and_what_was_left_out_is_counted_afterwards()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = time);
        for (int i = 0; i < 30; i++)
        {
            using RawPeer peer = await server.ConnectAsync();
            await peer.SendAsync(ErrorAboutTheConnection("again"), Wire.PingRequest(1));
            await peer.ReadFrameAsync();
        }

        Assert.Equal(10, server.Log.WithId(2006).Count);
        time.Advance(TimeSpan.FromSeconds(1.5));

        Assert.Contains("20 more", Assert.Single(server.Log.WithId(2011)).Text, StringComparison.Ordinal);
        using RawPeer late = await server.ConnectAsync();
        await late.SendAsync(ErrorAboutTheConnection("again"), Wire.PingRequest(1));
        await late.ReadFrameAsync();
        Assert.Equal(11, server.Log.WithId(2006).Count);
    }
}
