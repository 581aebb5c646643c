using FastPort.Core.Tests.Support;
using FastPort.Transports;
using FastPort.Transports.Epoll;
using FastPort.Transports.InProcess;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class TransportSelectionTests
{
    [LinuxTheory]
    [InlineData("tcp")]
    [InlineData("unix")]
    public void Clients_share_loops_where_they_ask_for_the_same(string scheme)
    {
        ITransport? twoLoops = Shared(new EpollOptions { Loops = 2 });

        Assert.NotNull(twoLoops);
        Assert.Same(twoLoops, Shared(new EpollOptions { Loops = 2 }));
        Assert.NotSame(twoLoops, Shared(new EpollOptions { Loops = 3 }));
        Assert.NotSame(twoLoops, Shared(new EpollOptions { Loops = 2, SpinMicroseconds = 0 }));
        Assert.NotSame(twoLoops, Shared(new EpollOptions { Loops = 2, PinLoops = true }));
        var client = new FastPortClientOptions { Transport = TransportKind.Epoll };
        Assert.Same(Shared(new EpollOptions()), client.CreateTransports().First(t => t.Supports(scheme)));

        ITransport? Shared(EpollOptions options) =>
            TransportCollection.CreateShared(TransportKind.Epoll, options).FirstOrDefault(t => t.Supports(scheme));
    }

    [Fact]
    public async Task Each_end_of_a_link_within_the_process_spins_as_its_own_side_was_told()
    {
        string uri = $"inproc://{Guid.NewGuid():n}";
        await using TestServer server = await TestServer.StartAsync(options: options =>
        {
            options.Endpoints.Clear();
            options.Endpoints.Add(uri);
            options.SpinMicroseconds = 7;
        });
        await using var told = new FastPortClient(new FastPortClientOptions { Endpoint = uri, SpinMicroseconds = 0 });
        await using var untold = new FastPortClient(new FastPortClientOptions { Endpoint = uri });
        await told.ConnectAsync();
        await untold.ConnectAsync();

        Assert.Equal(0, SpinOf(told.Session!));
        Assert.Null(SpinOf(untold.Session!));
        Assert.All(server.Opened, static session => Assert.Equal(7, SpinOf(session)));

        static int? SpinOf(Session session) => Assert.IsType<InProcessConnection>(session.Connection).Waiting.SpinMicroseconds;
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(1_000_001)]
    public void No_transport_can_be_told_to_spin_for_ever(int spinMicroseconds)
    {
        var options = new EpollOptions { SpinMicroseconds = spinMicroseconds };
        foreach (TransportKind kind in (TransportKind[])[TransportKind.Sockets, TransportKind.Auto])
        {
            Exception made = Assert.Throws<ArgumentOutOfRangeException>(() => TransportCollection.CreateDefault(kind, options));
            Exception shared = Assert.Throws<ArgumentOutOfRangeException>(() => TransportCollection.CreateShared(kind, options));

            Assert.All((Exception[])[made, shared], static e => Assert.Contains("0 to 1000000", e.Message, StringComparison.Ordinal));
        }
    }
}
