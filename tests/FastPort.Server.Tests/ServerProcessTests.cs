using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using System.Threading.Channels;
using FastPort.Protocol;
using Google.Protobuf;
using Xunit;

namespace FastPort.Server.Tests;

public sealed class ServerProcessTests
{
    private static readonly string[] AnyPort = ["--listen", "tcp://127.0.0.1:0"];

    [Theory]
    [InlineData(ServerProcess.SigTerm)]
    [InlineData(ServerProcess.SigInt)]
    public async Task Serves_echo_and_ends_cleanly_with_its_final_report(int signal)
    {
        await using ServerProcess server = ServerProcess.Start(AnyPort);
        string endpoint = await server.ListeningAsync();
        Assert.Matches("^tcp://127\\.0\\.0\\.1:[1-9][0-9]*$", endpoint);
        await using (var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, Timing = true }))
        {
            await client.ConnectAsync();
            for (int i = 0; i < 50; i++)
            {
                Assert.Equal("hello", (await EchoAsync(client, "hello")).Payload.ToStringUtf8());
            }
        }

        server.Signal(signal);

        Assert.Equal(0, await server.ExitAsync());
        Assert.Contains("Echo", server.Output, StringComparison.Ordinal);
        Assert.Empty(server.Errors);
        Assert.NotEmpty(Directory.GetFiles(server.StatsDirectory, "latency_stats_*_server_*.log"));
        Assert.NotEmpty(Directory.GetFiles(server.StatsDirectory, "latency_stats_*_server_*.json"));
        Assert.NotEmpty(Directory.GetFiles(server.StatsDirectory, "latency_stats_*_server_*.csv"));
        Assert.Empty(Directory.GetFiles(server.StatsDirectory, "*.tmp"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Passes_messages_between_its_clients_and_lists_them_where_told_to(bool peers)
    {
        await using ServerProcess server = ServerProcess.Start(AnyPort, peers ? [("FastPort__Routing__Peers", "true")] : []);
        string endpoint = await server.ListeningAsync();
        var got = Channel.CreateUnbounded<string>();
        await using var a = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, RoutingId = "a" });
        await using var b = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, RoutingId = "b" });
        b.OnRelayed(1, Echo.Parser, (echo, scoped in message) => got.Writer.TryWrite($"{echo.Payload.ToStringUtf8()} from {message.From}"));
        await a.ConnectAsync();
        await b.ConnectAsync();
        await b.SubscribeAsync(
            "news/", Echo.Parser, (echo, scoped in message) => got.Writer.TryWrite($"{echo.Payload.ToStringUtf8()} on {message.Address}"));

        await a.RelayAsync("b", 1, new Echo { Payload = ByteString.CopyFromUtf8("hello") });
        Assert.Equal(1, await a.PublishAsync("news/today", 1, new Echo { Payload = ByteString.CopyFromUtf8("rain") }));
        FastPort.ErrorCode? refused = null;
        try
        {
            Assert.Equal(["a", "b"], await a.ListPeersAsync().Select(static p => p.RoutingId).ToArrayAsync());
        }
        catch (RequestFailedException e)
        {
            refused = e.Code;
        }

        Assert.Equal(peers ? null : FastPort.ErrorCode.UnknownType, refused);
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        Assert.Equal("hello from a", await got.Reader.ReadAsync(patience.Token));
        Assert.Equal("rain on news/today", await got.Reader.ReadAsync(patience.Token));
    }

    [Fact]
    public async Task Measures_sessions_one_by_one_where_asked_and_has_those_that_ended_in_its_final_report()
    {
        await using ServerProcess server = ServerProcess.Start(AnyPort, ("FastPort__MeasureSessions", "true"));
        string endpoint = await server.ListeningAsync();
        foreach (int messages in (int[])[3, 5])
        {
            await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint });
            await client.ConnectAsync();
            for (int i = 0; i < messages; i++)
            {
                await EchoAsync(client, "hello");
            }
        }

        server.Signal(ServerProcess.SigTerm);

        Assert.Equal(0, await server.ExitAsync());
        Assert.Contains(
            "sessions: decode to send in us, then queue and handler; highest P99 first", server.Output, StringComparison.Ordinal);
        using JsonDocument json = JsonDocument.Parse(
            await File.ReadAllBytesAsync(Assert.Single(Directory.GetFiles(server.StatsDirectory, "*.json"))));
        Assert.Equal(
            [3, 5],
            json.RootElement.GetProperty("scopes").EnumerateArray()
                .Where(static scope => scope.GetProperty("scope").GetString() == "session")
                .OrderBy(static scope => scope.GetProperty("key").GetInt64())
                .Select(static scope => scope.GetProperty("lifetime").GetProperty("messages").GetInt32()));
    }

    [Fact]
    public async Task Listens_on_every_endpoint_it_is_given()
    {
        await using ServerProcess server = ServerProcess.Start(["--listen", "tcp://127.0.0.1:0", "--listen", "tcp://127.0.0.1:0"]);

        await server.PrintedAsync("listening on tcp://127.0.0.1:", times: 2);
    }

    [Fact]
    public async Task Serves_a_Unix_socket_and_removes_its_file()
    {
        if (OperatingSystem.IsWindows())
        {
            return;
        }

        using var directory = new TemporaryDirectory();
        string path = Path.Combine(directory.Path, "fastport.sock");
        await using ServerProcess server = ServerProcess.Start(["--listen", $"unix://{path}"], ("FastPort__UnixSocketPermissions", "0660"));
        Assert.Equal($"unix://{path}", await server.ListeningAsync());
        Assert.Equal(Convert.ToInt32("0660", 8), (int)File.GetUnixFileMode(path));
        await using (var client = new FastPortClient(new FastPortClientOptions { Endpoint = $"unix://{path}" }))
        {
            await client.ConnectAsync();
            Assert.Equal("hello", (await EchoAsync(client, "hello")).Payload.ToStringUtf8());
        }

        server.Signal(ServerProcess.SigTerm);

        Assert.Equal(0, await server.ExitAsync());
        Assert.False(File.Exists(path));
    }

    [Fact]
    public async Task A_Redis_that_cannot_be_reached_is_exit_code_1_and_one_clear_sentence()
    {
        // Bound, and nobody listens: connections are refused.
        using var silent = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        silent.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        string redis = $"127.0.0.1:{((IPEndPoint)silent.LocalEndPoint!).Port}";
        await using ServerProcess server = ServerProcess.Start(
            ["--listen", "tcp://127.0.0.1:0"], ("FastPort__Backplane__Connection", redis));

        Assert.Equal(1, await server.ExitAsync());
        Assert.Contains(
            $"The backplane's Redis at {redis} (FastPort:Backplane:Connection) cannot be used", server.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", server.Errors + server.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_port_in_use_is_exit_code_1_and_one_clear_sentence()
    {
        using var taken = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        taken.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        taken.Listen();
        string endpoint = $"tcp://127.0.0.1:{((IPEndPoint)taken.LocalEndPoint!).Port}";
        await using ServerProcess server = ServerProcess.Start(["--listen", endpoint]);

        Assert.Equal(1, await server.ExitAsync());
        Assert.Contains(endpoint, server.Errors, StringComparison.Ordinal);
        Assert.Contains("in use", server.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", server.Errors + server.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stats_directory_that_cannot_be_written_costs_one_warning_and_no_traffic()
    {
        string file = Path.GetTempFileName();
        try
        {
            await using ServerProcess server = ServerProcess.Start(
                AnyPort,
                ("LatencyStats__OutputDirectory", Path.Combine(file, "Stats")),
                ("LatencyStats__FileWriteIntervalSeconds", "1"),
                ("Serilog__MinimumLevel__Default", "Debug"));
            await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = await server.ListeningAsync() });
            await client.ConnectAsync();
            for (int reports = 1; reports <= 3; reports++)
            {
                await EchoAsync(client, "still here");
                await server.PrintedAsync("Latency report ", reports);
            }

            await client.CloseAsync();
            server.Signal(ServerProcess.SigTerm);

            Assert.Equal(0, await server.ExitAsync());
            // Others may come: of a handler that was slow, where the machine takes the core away.
            Assert.Single(
                server.Output.Split('\n'), line =>
                    line.Contains(" WRN ", StringComparison.Ordinal) && line.Contains(file, StringComparison.Ordinal));
        }
        finally
        {
            File.Delete(file);
        }
    }

    [Fact]
    public async Task Killed_under_load_exactly_the_requests_in_flight_fail_and_the_client_goes_on()
    {
        const int Workers = 16;
        ServerProcess server = ServerProcess.Start(AnyPort);
        string endpoint = await server.ListeningAsync();
        await using var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = endpoint,
            RequestTimeout = TimeSpan.FromMinutes(1),
        });
        await client.ConnectAsync();
        using var stop = new CancellationTokenSource();
        Tally errors = new(), good = new();
        Task[] workers = [.. Enumerable.Range(0, Workers).Select(_ => Task.Run(WorkAsync))];
        await good.MoreAsync(500);

        // Halted first: when the last reply that was on its way has come, what is in flight is known. It is one request of each worker.
        server.Signal(ServerProcess.SigStop);
        await Patience.UntilSteadyAsync(() => good.Count, "the halted server's last reply had come");
        await Patience.UntilAsync(() => client.Session!.OutstandingRequests == Workers, "each worker had a request in flight");
        Task lost = errors.MoreAsync(Workers);
        server.Signal(ServerProcess.SigKill);
        await server.ExitAsync();
        await server.DisposeAsync();
        await lost;
        await using ServerProcess again = ServerProcess.Start(["--listen", endpoint]);
        Assert.Equal(endpoint, await again.ListeningAsync());
        await good.MoreAsync(500);

        await stop.CancelAsync();
        await Task.WhenAll(workers);
        Assert.Equal(Workers, errors.Count);

        async Task WorkAsync()
        {
            while (!stop.IsCancellationRequested)
            {
                try
                {
                    await EchoAsync(client, "x");
                    good.Add();
                }
                catch (RequestFailedException e) when (e.Failure == RequestFailure.ConnectionLost)
                {
                    errors.Add();
                }
            }
        }
    }

    [Fact]
    public async Task Stopped_in_order_and_started_again_under_load_costs_no_error()
    {
        const int Workers = 16;
        ServerProcess server = ServerProcess.Start(AnyPort);
        string endpoint = await server.ListeningAsync();
        await using var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = endpoint,
            RequestTimeout = TimeSpan.FromMinutes(1),
        });
        await client.ConnectAsync();
        using var stop = new CancellationTokenSource();
        var good = new Tally();
        Task[] workers = [.. Enumerable.Range(0, Workers).Select(_ => Task.Run(WorkAsync))];
        for (int i = 0; i < 3; i++)
        {
            await good.MoreAsync(500);
            server.Signal(ServerProcess.SigTerm);
            Assert.Equal(0, await server.ExitAsync());
            await server.DisposeAsync();
            server = ServerProcess.Start(["--listen", endpoint]);
            await server.ListeningAsync();
        }

        await good.MoreAsync(500);
        await stop.CancelAsync();

        // A request that failed would throw here.
        await Task.WhenAll(workers);
        await server.DisposeAsync();

        async Task WorkAsync()
        {
            while (!stop.IsCancellationRequested)
            {
                await EchoAsync(client, "x");
                good.Add();
            }
        }
    }

    private static Task<Echo> EchoAsync(FastPortClient client, string text) =>
        client.RequestAsync(DiagnosticType.Echo, new Echo { Payload = ByteString.CopyFromUtf8(text) }, Echo.Parser);
}
