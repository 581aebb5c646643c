using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>
/// Calls of protocols and posted ones have no execution context, whatever carries the connection: nothing of the call before, and nothing
/// of who has started the transport.
/// </summary>
public sealed class CallContextTests
{
    private readonly ContextProbe _probe = new();

    [Theory, EveryLink]
    public async Task No_call_of_a_protocol_sees_what_another_one_has_left(string link)
    {
        _probe.Leave("the starter");
        await using TestLink open = TestLink.Open(link);
        TestProtocol protocol = Probed();
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync(server: protocol);

        for (int i = 0; i < 3; i++)
        {
            await client.SendAsync(new byte[100]);
            await server.ReceivedAsync((i + 1) * 100);
        }

        int ticks = server.Ticks;
        server.Connection.RequestTick();
        await Patience.UntilAsync(() => server.Ticks > ticks, "the clock came");
        Assert.True(server.TryWrite(new byte[100]));
        Task drained = server.DrainedAsync(0);
        server.Connection.Flush();
        await drained.InTimeAsync();
        client.Connection.Close(CloseReason.LocalClosed);
        await server.ClosedAsync();

        await _probe.ExpectNoLeaksAsync("opened", "received", "ticked", "drained", "ended", "closed");
    }

    [Theory, EveryLink]
    public async Task No_posted_call_and_no_release_sees_what_another_one_or_the_poster_has_left(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();
        _probe.Leave("the poster");

        server.Connection.Post(_ => _probe.Visit("first"), null);
        server.Connection.Post(_ => _probe.Visit("second"), null);
        server.Connection.PostAfter(TimeSpan.FromMilliseconds(1), _ => _probe.Visit("late"), null);
        Assert.True(server.TryLend(new byte[20_000], _ => _probe.Visit("released"), null));
        server.Connection.Flush();
        await client.ReceivedAsync(20_000);

        await _probe.ExpectNoLeaksAsync("first", "second", "late", "released");
        Assert.Equal("the poster", _probe.Mark);
    }

    private TestProtocol Probed()
    {
        TestProtocol? protocol = null;
        protocol = new TestProtocol
        {
            Opened = () => _probe.Visit("opened"),
            Ticked = () => _probe.Visit("ticked"),
            Drained = () => _probe.Visit("drained"),
            Ended = () => _probe.Visit("ended"),
            Over = () => _probe.Visit("closed"),
            OnBytes = input =>
            {
                _probe.Visit("received");
                return protocol!.Collect(input);
            },
        };
        return protocol;
    }
}
