using System.Collections.Concurrent;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Clients;

/// <summary>A server that is stopped in order and started again under load: nobody notices.</summary>
public sealed class ClientRestartTests
{
    [Theory]
    [InlineData("tcp", 30)]
    [InlineData("ws", 10)]
    public async Task Graceful_restarts_under_load_cost_no_error_lose_nothing_and_run_nothing_twice(string scheme, int restarts)
    {
        var log = new ExecutionLog();
        using var port = new HeldPort();
        CountingServer server = await StartAsync(port.Number, log, scheme);
        FastPortClient[] clients = new FastPortClient[4];
        int connected = 0, disconnected = 0;
        for (int i = 0; i < clients.Length; i++)
        {
            clients[i] = new FastPortClient(new FastPortClientOptions
            {
                Endpoint = server.Endpoint,
                ReconnectDelay = TimeSpan.FromMilliseconds(5),
                MaxReconnectDelay = TimeSpan.FromMilliseconds(20),
            });
            clients[i].Connected += _ => Interlocked.Increment(ref connected);
            clients[i].Disconnected += (_, _) => Interlocked.Increment(ref disconnected);
            await clients[i].ConnectAsync().InTimeAsync();
        }

        using var stop = new CancellationTokenSource();
        long next = 0;
        ConcurrentBag<Exception> errors = [];
        Task[] workers = [
            .. Enumerable.Range(0, clients.Length * 8)
            .Select(w => Task.Run(() => WorkAsync(clients[w % clients.Length], w / clients.Length)))];
        for (int restart = 0; restart < restarts; restart++)
        {
            long before = Interlocked.Read(ref next);
            await Patience.UntilAsync(() => Interlocked.Read(ref next) > before + 500, "the load is running");
            await server.Server.StopAsync().InTimeAsync();
            server = await StartAsync(port.Number, log, scheme);
        }

        await stop.CancelAsync();
        await Task.WhenAll(workers).InTimeAsync();
        foreach (FastPortClient client in clients)
        {
            await client.CloseAsync().InTimeAsync();
        }

        await server.DisposeAsync();
        Assert.Empty(errors);
        Assert.Equal(next, log.Ids.Count);
        Assert.All(log.Ids, id => Assert.Equal(1, log.Count(id)));
        Assert.Equal(connected, disconnected);
        Assert.True(connected > restarts, $"Only {connected} sessions saw {restarts} restarts.");

        async Task WorkAsync(FastPortClient client, int kind)
        {
            while (!stop.IsCancellationRequested)
            {
                long id = Interlocked.Increment(ref next);
                byte[] body = CountingServer.Body(id, 8 + (int)(id % 200));
                try
                {
                    if (kind % 4 == 3)
                    {
                        Assert.Equal(
                            SendStatus.Queued, await client.TrySendAsync(CountingServer.OneWay, new SequenceBody(new(body))).InTimeAsync());
                        await Task.Yield();
                    }
                    else
                    {
                        ushort type = kind % 2 == 0 ? CountingServer.InlineEcho : CountingServer.QueuedEcho;
                        Assert.Equal(body, await client.RequestAsync(type, body).InTimeAsync());
                    }
                }
                catch (Exception e)
                {
                    errors.Add(e);
                }
            }
        }
    }

    [Fact]
    public async Task Requests_under_way_when_the_server_stops_are_answered_before_it_has_stopped()
    {
        CountingServer server = await StartAsync(0, new ExecutionLog());
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();
        Task<byte[]>[] requests = [.. Enumerable.Range(0, 8).Select(i => client.RequestAsync(CountingServer.Hold, CountingServer.Body(i)))];
        await Patience.UntilAsync(() => server.Held == 8, "all are under way");

        Task stopping = server.Server.StopAsync();
        await Patience.UntilAsync(() => client.Session is null, "the client got the Goodbye");
        Assert.DoesNotContain(requests, static r => r.IsCompleted);
        Assert.False(stopping.IsCompleted);
        server.Release();

        for (int i = 0; i < requests.Length; i++)
        {
            Assert.Equal(CountingServer.Body(i), await requests[i].InTimeAsync());
        }

        await stopping.InTimeAsync();
    }

    [Fact]
    public async Task A_request_refused_because_the_server_stops_is_sent_again_to_the_next_session()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer first = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task<byte[]> request = client.RequestAsync(0x2000, new byte[] { 7 });
        ScriptedFrame frame = await first.ReadAsync();

        await first.WriteAsync(
            0x2000, FrameFlags.Reply | FrameFlags.Error, frame.Header.Correlation,
            ScriptedPeer.Encode(new CodeBody(ErrorCode.ShuttingDown, "Stopping.")));
        using ScriptedPeer second = await server.WelcomeAsync();
        ScriptedFrame again = await second.ReadAsync();
        Assert.Equal([7], again.Body);
        await second.ReplyAsync(again, 8);

        Assert.Equal([8], await request.InTimeAsync());

        // Without a Goodbye of the server too: otherwise each such reply would leave a session behind, with the client's routing id.
        Assert.Equal(ControlType.Goodbye, Assert.Single(await first.ReadToEndAsync()).Header.Type);
    }

    [Fact]
    public async Task After_the_servers_Goodbye_the_client_says_its_own_sends_no_request_there_and_takes_its_replies()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer first = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task<byte[]> early = client.RequestAsync(0x2000, new byte[] { 1 });
        ScriptedFrame request = await first.ReadAsync();

        await first.WriteAsync(
            ControlType.Goodbye, FrameFlags.OneWay, 0, ScriptedPeer.Encode(new CodeBody(ErrorCode.ShuttingDown, "Stopping.")));
        Assert.Equal(ControlType.Goodbye, (await first.ReadAsync()).Header.Type);
        Task<byte[]> late = client.RequestAsync(0x2000, new byte[] { 2 });
        using ScriptedPeer second = await server.WelcomeAsync();
        ScriptedFrame lateRequest = await second.ReadAsync();
        await second.ReplyAsync(lateRequest, 22);
        Assert.Equal([22], await late.InTimeAsync());

        Assert.False(early.IsCompleted);
        await first.ReplyAsync(request, 11);
        Assert.Equal([11], await early.InTimeAsync());

        // Nothing is left to wait for: the client closes by itself.
        Assert.Empty(await first.ReadToEndAsync());
    }

    private static Task<CountingServer> StartAsync(int port, ExecutionLog log, string scheme = "tcp") =>
        CountingServer.StartAsync(port, log, o =>
        {
            o.Endpoints[0] = $"{scheme}://127.0.0.1:{port}";
            o.Session.MaxConcurrency = 8;

            // A client that the machine gives no time for half a second is not what is tested here.
            o.ShutdownTimeout = TimeSpan.FromSeconds(25);
            o.ShutdownGrace = TimeSpan.FromSeconds(20);
        });
}
