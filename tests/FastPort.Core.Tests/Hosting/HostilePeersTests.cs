using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

public sealed class HostilePeersTests
{
    private const int Peers = 2000;
    private const ushort Queued = 0x1001;

    [Fact]
    public async Task Two_thousand_hostile_connections_leave_a_well_behaved_session_alone()
    {
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapQueued(Queued, static async c =>
            {
                byte[] body = c.Body.ToArray();
                await Task.Yield();
                c.Reply(body);
            }),
            static o => o.MaxConnections = 1000);
        using RawPeer good = await server.ConnectAsync();
        await good.SayHelloAsync("good");
        using var enough = new CancellationTokenSource();
        int echoes = 0;
        Task echoing = Task.Run(() => EchoAsync(good, () => Interlocked.Increment(ref echoes), enough.Token));

        await Parallel.ForEachAsync(
            Enumerable.Range(0, Peers), new ParallelOptions { MaxDegreeOfParallelism = 16 }, async (i, _) =>
            {
                await AttackAsync(server, new Random(i));

                // Echoes all the way through the attack, however the threads are scheduled.
                await Patience.UntilAsync(() => Volatile.Read(ref echoes) >= i / 10, "the good session had its echoes");
            });
        await enough.CancelAsync();
        await echoing.InTimeAsync();

        await Patience.UntilAsync(() => server.Server.ConnectionCount == 1, "only the good connection was left");
        SessionCountersSnapshot counts = server.Counts;
        Assert.Equal((Peers + 1, Peers, 0), (counts.ConnectionsAccepted, counts.ConnectionsClosed, counts.ConnectionsRejected));
        Assert.Equal((1, 1), (counts.ConnectionsOpen, counts.SessionsOpen));
        Assert.Equal(Peers + 1, server.Opened.Distinct().Count());
        Assert.Equal(Peers, server.Closed.Select(static c => c.Session).Distinct().Count());
        Assert.Equal(Peers, server.Closed.Count);
        Assert.All(
            new uint[] { 1, 2, 3, 4 }, code =>
                Assert.True(counts.ErrorsSentWith(code) > 20, $"Too few errors {code}: {counts.ErrorsSentWith(code)}."));
        Assert.DoesNotContain(server.Log.Lines, static l => l.Level >= LogLevel.Error);
        await good.PingAsync();
    }

    private static async Task EchoAsync(RawPeer peer, Action echoed, CancellationToken enough)
    {
        uint number = 0;
        while (!enough.IsCancellationRequested)
        {
            number++;
            byte[] body = Wire.Bytes((int)(number % 3000), (int)number);
            await peer.SendAsync(Wire.Request(TestServer.Echo, number, body), Wire.Request(Queued, number, body));
            for (int i = 0; i < 2; i++)
            {
                WireFrame reply = await peer.ReadFrameAsync();
                Assert.Equal((Wire.Reply, number), (reply.Flags, reply.Correlation));
                Assert.Equal(body, reply.Body);
            }

            echoed();
        }
    }

    private static async Task AttackAsync(TestServer server, Random random)
    {
        using RawPeer peer = await server.ConnectAsync();
        int pieces = random.Next(1, 5);
        for (int i = 0; i < pieces; i++)
        {
            await peer.TrySendAsync(random.Next(3) switch
            {
                0 => Wire.Bytes(random.Next(1, 3000), random.Next()),
                1 => Frame(random)[..random.Next(1, 12)],
                _ => [.. Enumerable.Range(0, random.Next(1, 20)).SelectMany(_ => Frame(random))],
            });
        }

        switch (random.Next(4))
        {
            case 0:
                peer.Reset();
                break;
            case 1:
                // The end of the stream must end the connection in bounded time, whatever came before.
                try
                {
                    peer.ShutdownSend();
                    while (await peer.ReadAsync() is not null)
                    {
                    }
                }
                catch (System.Net.Sockets.SocketException)
                {
                    // Reset by the server, because it stopped reading in the middle of what was sent.
                }

                break;
            default:
                break;
        }
    }

    // Mostly valid, now and then with one field broken.
    private static byte[] Frame(Random random)
    {
        ushort[] types = [0, 1, 2, 3, 4, 9, TestServer.Echo, Queued, Queued, 0x2222, (ushort)random.Next(0x10000)];
        byte[] body = Wire.Bytes(random.Next(10) == 0 ? random.Next(5000) : random.Next(20), random.Next());
        byte[] frame = Wire.Frame(types[random.Next(types.Length)], (byte)random.Next(16), (uint)random.Next(3), body);
        switch (random.Next(40))
        {
            case 0:
                frame[6] = (byte)random.Next(256);
                break;
            case 1:
                frame[7] = (byte)random.Next(256);
                break;
            case 2:
            case 3:
                frame[3] = (byte)random.Next(256);
                break;
            case 4:
                frame[0] = (byte)random.Next(256);
                break;
        }

        return frame;
    }
}
