using System.Globalization;
using System.Text.RegularExpressions;
using FastPort.Core.Tests.Memory;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class DescriptorExhaustionTests
{
    private const int Descriptors = 200;
    private static readonly byte[] Ping = RawConnection.Frame(Wire.Ping, []);

    [LinuxTheory]
    [InlineData(TransportKind.Sockets, 0)]
    [InlineData(TransportKind.Epoll, 0)]
    [InlineData(TransportKind.Epoll, 40)]
    public async Task Connections_never_take_the_last_descriptors(TransportKind transport, int loops)
    {
        await using TestHostProcess host = await TestHostProcess.ServeWithDescriptorsAsync(transport, Descriptors, loops);
        List<RawConnection> peers = [];
        try
        {
            // Until one more is closed at once.
            while (TryConnect())
            {
                Assert.InRange(peers.Count, 1, Descriptors);
            }

            Assert.Contains(
                $"this process has descriptors for {peers.Count} connections", (await host.ReadLogAsync(3001))[0].Text,
                StringComparison.Ordinal);
            Dictionary<string, long> full = await host.MeasureAsync();
            Assert.Equal((peers.Count, 0), (full["connections"], full["accept-errors"]));
            peers[0].Exchange(Ping, 1, 1);

            // Part of the reserve is there still, whatever the loops have taken.
            Assert.InRange(full["descriptors-free"], 32, Descriptors);

            peers[^1].Dispose();
            peers.RemoveAt(peers.Count - 1);
            await Patience.UntilAsync(TryConnect, "a place came free");
        }
        finally
        {
            peers.ForEach(static p => p.Dispose());
        }

        bool TryConnect()
        {
            var peer = new RawConnection(host.Port);
            try
            {
                peer.Exchange(Ping, 1, 1);
                peers.Add(peer);
                return true;
            }
            catch (Exception e) when (e is System.Net.Sockets.SocketException or EndOfStreamException)
            {
                peer.Dispose();
                return false;
            }
        }
    }

    [LinuxTheory]
    [InlineData(TransportKind.Sockets)]
    [InlineData(TransportKind.Epoll)]
    public async Task Two_servers_of_a_process_share_what_it_has_and_strangers_get_half_of_it(TransportKind transport)
    {
        await using TestHostProcess host = await TestHostProcess.ServeWithDescriptorsAsync(transport, Descriptors, 1, hasSecond: true);
        List<RawConnection> peers = [];
        try
        {
            await FillAsync(host.SecondPort, rejections: 1);
            await FillAsync(host.Port, rejections: 2);

            int most = Number(host, "this process has descriptors for ([0-9]+) connections");
            Assert.Equal(most / 2, Number(host, "FastPort:MaxUnidentifiedConnections is ([0-9]+)"));

            // Those that were being rejected held places, too, and the process counts anew what it has: so the last places come late.
            Dictionary<string, long> full = [];
            await Patience.UntilAsync(
                async () =>
                {
                    full = await host.MeasureAsync();
                    if (full["connections"] < full["connections-max"])
                    {
                        Connect(host.Port);
                    }

                    return full["connections"] == full["connections-max"];
                },
                "both servers had what the process has");
            Assert.Equal(0, full["accept-errors"]);
            Assert.InRange(full["descriptors-free"], 32, Descriptors);
            Assert.DoesNotContain(host.Log, static line => line.EventId == 3002);
        }
        finally
        {
            peers.ForEach(static p => p.Dispose());
        }

        async Task FillAsync(int port, int rejections)
        {
            while (host.Log.Count(static line => line.EventId == 3001) < rejections)
            {
                Connect(port);
                await host.MeasureAsync();
            }
        }

        void Connect(int port)
        {
            Assert.InRange(peers.Count, 0, 10 * Descriptors);
            peers.Add(new RawConnection(port));
        }
    }

    [LinuxTheory]
    [InlineData(TransportKind.Sockets, 0, false)]
    [InlineData(TransportKind.Sockets, 0, true)]
    [InlineData(TransportKind.Epoll, 4, false)]
    [InlineData(TransportKind.Epoll, 4, true)]
    public async Task A_server_that_cannot_start_without_descriptors_says_so_and_leaves_nothing_open(
        TransportKind transport, int loops, bool isUnix)
    {
        using var directory = new TemporaryDirectory();
        string path = isUnix ? Path.Combine(directory.Path, "stale.sock") : string.Empty;
        await using TestHostProcess host = TestHostProcess.ScarceStart(transport, loops, path);

        Dictionary<string, long> outcome = await host.ReadAsync();

        Assert.All(host.Log, static line => Assert.StartsWith("EndpointException: Cannot listen on ", line.Text, StringComparison.Ordinal));
        Assert.Equal((0, 1), (outcome["other"], outcome["last"]));
        Assert.InRange(outcome["refused"], 2, 26);
        Assert.InRange(outcome["listening"], 2, 26);

        // A few that belong to the runtime; one left open at each refusal would be more.
        Assert.InRange(outcome["left-open"], -8, 8);
    }

    [LinuxTheory]
    [InlineData(TransportKind.Sockets)]
    [InlineData(TransportKind.Epoll)]
    public async Task A_server_whose_process_has_no_descriptor_left_waits_between_its_tries_and_serves_again_when_there_are_some(
        TransportKind transport)
    {
        await using TestHostProcess host = await TestHostProcess.ServeWithDescriptorsAsync(transport, Descriptors);
        using var early = new RawConnection(host.Port);
        early.Exchange(Ping, 1, 1);
        Assert.Equal(0, (await host.AskAsync("eat"))["accept-errors"]);

        // The kernel takes it all the same.
        using var late = new RawConnection(host.Port);
        HostLogLine first = (await host.ReadLogAsync(1001))[0];
        Assert.Contains("TooManyOpenSockets", first.Text, StringComparison.Ordinal);
        Assert.Contains("next try in 100 ms. Raise the descriptor limit (ulimit -n)", first.Text, StringComparison.Ordinal);
        Dictionary<string, long> before = await host.MeasureAsync();
        early.Exchange(Ping, 1, 1);

        // Each wait is twice as long as the one before (the two clocks count whole milliseconds), and takes no time of the processor.
        IReadOnlyList<HostLogLine> tries = await host.ReadLogAsync(1001, 4);
        for (int i = 1; i < tries.Count; i++)
        {
            Assert.InRange(tries[i].Milliseconds - tries[i - 1].Milliseconds, (50 << i) - 16, 30_000);
        }

        Dictionary<string, long> after = await host.MeasureAsync();
        Assert.Equal(1, after["connections"]);
        Assert.InRange(after["cpu-ms"] - before["cpu-ms"], 0, 350);

        await host.AskAsync("free");
        await host.ReadLogAsync(1004);
        late.Exchange(Ping, 1, 1);
        Dictionary<string, long> end = await host.MeasureAsync();
        Assert.Equal((2, host.Log.Count(static l => l.EventId == 1001)), (end["connections"], end["accept-errors"]));

        // Code of the user runs neither on the accepting thread nor, after a wait, on the clock's.
        Assert.Equal(0, end["opened-off-loop"]);
    }

    private static int Number(TestHostProcess host, string pattern) => host.Log
        .Where(static line => line.EventId == 3001)
        .Select(line => Regex.Match(line.Text, pattern))
        .Where(static match => match.Success)
        .Select(static match => int.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))
        .First();
}
