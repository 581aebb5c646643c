using System.Diagnostics.Metrics;
using FastPort.Connections;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

/// <summary>Servers and clients of a host by name and section, and their options as other services of the host see them.</summary>
public sealed class NamedServersTests
{
    [Fact]
    public async Task A_host_has_two_servers_with_sections_of_their_own()
    {
        HostApplicationBuilder builder = Create(
            ("Field:Endpoints:0", "tcp://127.0.0.1:0"), ("Field:ServerName", "field side"),
            ("Office:Endpoints:0", "tcp://127.0.0.1:0"), ("Office:MaxConnections", "7"));
        builder.Services.AddFastPort("field", builder.Configuration.GetSection("Field")).Map(static handlers => handlers.MapDiagnostics());
        builder.Services.AddFastPort("office", builder.Configuration.GetSection("Office"), static o => o.MaxConnections *= 2);
        using IHost host = builder.Build();
        await host.StartAsync();
        var field = host.Services.GetRequiredKeyedService<FastPortServer>("field");
        var office = host.Services.GetRequiredKeyedService<FastPortServer>("office");

        await using FastPortClient client = await Loopback.ConnectAsync(field);
        Echo reply = await client.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser);

        Assert.Equal("x", reply.Payload.ToStringUtf8());
        var options = host.Services.GetRequiredService<IOptionsMonitor<FastPortServerOptions>>();
        Assert.Equal(("field side", 14), (options.Get("field").ServerName, options.Get("office").MaxConnections));
        Assert.Equal((1, 0), (field.ConnectionCount, office.ConnectionCount));
        Assert.False(host.Services.GetRequiredService<IOptionsMonitor<LatencyStatsOptions>>().Get("field").EnableFileOutput);
        await host.StopAsync();
        Assert.Equal(0, field.ConnectionCount);
    }

    [Fact]
    public async Task Meters_of_named_servers_have_their_names()
    {
        List<object?> names = [];
        HostApplicationBuilder builder = Create(("A:Endpoints:0", "tcp://127.0.0.1:0"), ("B:Endpoints:0", "tcp://127.0.0.1:0"));
        builder.Services.AddMetrics();
        builder.Services.AddFastPort("a", builder.Configuration.GetSection("A"));
        builder.Services.AddFastPort("b", builder.Configuration.GetSection("B"));
        using IHost host = builder.Build();
        await host.StartAsync();
        var factory = host.Services.GetRequiredService<IMeterFactory>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, _) =>
            {
                if (instrument.Meter.Name == "FastPort"
                    && instrument.Name == "fastport.connections.accepted"
                    && ReferenceEquals(instrument.Meter.Scope, factory))
                {
                    names.Add(instrument.Meter.Tags!.Single(static t => t.Key == "fastport.server").Value);
                }
            },
        };

        listener.Start();

        Assert.Equal(["a", "b"], names.Order());
        await host.StopAsync();
    }

    [Fact]
    public async Task Reports_of_a_named_server_have_its_name()
    {
        DirectoryInfo directory = Directory.CreateTempSubdirectory("fastport-named-");
        try
        {
            string name = $"line 1/{new string('ü', 100)}";
            HostApplicationBuilder builder = Create(("A:Endpoints:0", "inproc://reports-of-a-named-server"));
            builder.Services.AddFastPort(name, builder.Configuration.GetSection("A"));
            builder.Services.Configure<LatencyStatsOptions>(name, options =>
            {
                options.EnableFileOutput = true;
                options.OutputDirectory = directory.FullName;
                options.OutputFilePrefix = new string('ü', 50);
            });
            using IHost host = builder.Build();
            await host.StartAsync();
            await host.StopAsync();

            FileInfo file = Assert.Single(directory.GetFiles("*.json"));
            Assert.Matches(@"^ü{50}_\d{8}_\d{6}_server_line_1_ü{36}_\d+\.json$", file.Name);
            using var json = System.Text.Json.JsonDocument.Parse(await File.ReadAllBytesAsync(file.FullName));
            Assert.Equal(name, json.RootElement.GetProperty("name").GetString());
        }
        finally
        {
            directory.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Latencies_that_nothing_would_report_are_refused()
    {
        HostApplicationBuilder builder = Create(("A:Endpoints:0", "inproc://latencies-of-its-own"));
        builder.Services.AddFastPort("a", builder.Configuration.GetSection("A")).ConfigureComponents(
            static (_, components) => components.LatencyStats = new LatencyStats(LatencyRole.Server));
        using IHost host = builder.Build();

        var failure = await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync());

        Assert.StartsWith(
            "ConfigureComponents has set a LatencyStats that nothing would report;", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Measuring_sessions_is_measuring()
    {
        HostApplicationBuilder builder = Create(("A:Endpoints:0", "tcp://127.0.0.1:0"), ("A:MeasureSessions", "true"));
        builder.Services.AddFastPort("a", builder.Configuration.GetSection("A")).Map(static handlers => handlers.MapDiagnostics());
        using IHost host = builder.Build();
        await host.StartAsync();
        await using FastPortClient client = await Loopback.ConnectAsync(host.Services.GetRequiredKeyedService<FastPortServer>("a"));
        await client.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser);

        // The second message began when the first had been measured.
        await client.RequestAsync(DiagnosticType.SinkReport, Loopback.Message("x"), SinkReport.Parser);

        Assert.NotEmpty(host.Services.GetRequiredKeyedService<LatencyStats>("a").Read().Sessions);
        await host.StopAsync();
    }

    [Fact]
    public async Task Every_problem_of_a_named_section_is_told_with_its_path()
    {
        HostApplicationBuilder builder = Create(
            ("Plant:Field:MaxConnections", "many"), ("Plant:Field:Port", "1"), ("Plant:Field:Session:MaxConcurrency", "0"));
        builder.Services.AddFastPort("field", builder.Configuration.GetSection("Plant:Field"));
        using IHost host = builder.Build();

        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        Assert.Equal(3, failure.Failures.Count());
        Assert.All(failure.Failures, static f => Assert.StartsWith("Plant:Field:", f, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Options_are_configured_as_those_of_other_services_are()
    {
        HostApplicationBuilder builder = Create(("FastPort:Endpoints:0", "tcp://127.0.0.1:0"), ("FastPort:MaxConnections", "17"));
        builder.Services.PostConfigure<FastPortServerOptions>(static o => o.ServerName += " (post)");
        builder.Services.AddFastPort(builder.Configuration);
        builder.Services.Configure<FastPortServerOptions>(static o => o.ServerName = $"up to {o.MaxConnections}");
        using IHost host = builder.Build();
        await host.StartAsync();

        Assert.Equal("up to 17 (post)", host.Services.GetRequiredService<IOptions<FastPortServerOptions>>().Value.ServerName);
        await host.StopAsync();
    }

    [Fact]
    public async Task What_code_makes_of_options_is_checked_too()
    {
        HostApplicationBuilder builder = Create();
        builder.Services.AddFastPort(builder.Configuration.GetSection("Mine"), static o => o.MaxConnections = -1);
        using IHost host = builder.Build();

        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        Assert.Equal("Mine:MaxConnections is -1; allowed: 1 to 1000000.", Assert.Single(failure.Failures));
    }

    [Fact]
    public void Names_are_given_once()
    {
        HostApplicationBuilder builder = Create();
        builder.Services.AddFastPort("field", builder.Configuration.GetSection("Field"));
        builder.Services.AddFastPort("office", builder.Configuration.GetSection("Office"));

        var failure = Assert.Throws<InvalidOperationException>(
            () => builder.Services.AddFastPort("field", builder.Configuration.GetSection("Other")));

        Assert.Contains("named 'field' was already added", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Clients_connect_and_close_with_the_host()
    {
        await using TestHost server = await TestHost.StartAsync(static b => b.Map(static handlers => handlers.MapDiagnostics()));
        string endpoint = server.Server.Endpoints[0].ToString();
        List<string> seen = [];
        HostApplicationBuilder builder = Create(
            ("FastPortClient:Endpoint", endpoint), ("FastPortClient:ClientName", "plain"), ("Second:Endpoint", endpoint),
            ("Second:RoutingId", "second"), ("Second:RequestTimeout", "00:00:07"));
        builder.Services.AddFastPortClient(builder.Configuration)
            .OnConnected((_, session) => Note($"connected {session.IsIdentified}"))
            .OnDisconnected((_, _, reason) => Note($"{reason.Kind}"));
        builder.Services.AddFastPortClient("second", builder.Configuration.GetSection("Second"), static o => o.Timing = true);
        using IHost host = builder.Build();
        await host.StartAsync();

        var plain = host.Services.GetRequiredService<FastPortClient>();
        var second = host.Services.GetRequiredKeyedService<FastPortClient>("second");
        Assert.Same(plain, host.Services.GetRequiredService<IFastPortClient>());
        Assert.Same(second, host.Services.GetRequiredKeyedService<IFastPortClient>("second"));
        await plain.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser);
        Assert.NotNull(server.Server.Routing.Find("second"));
        FastPortClientOptions options = host.Services.GetRequiredService<IOptionsMonitor<FastPortClientOptions>>().Get("second");
        Assert.Equal((TimeSpan.FromSeconds(7), true), (options.RequestTimeout, options.Timing));

        await host.StopAsync();
        await Assert.ThrowsAsync<RequestFailedException>(
            () => second.RequestAsync(DiagnosticType.Echo, Loopback.Message("x"), Echo.Parser));
        Assert.Equal(2, seen.Count);
        Assert.Equal("connected True", seen[0]);

        void Note(string text)
        {
            lock (seen)
            {
                seen.Add(text);
            }
        }
    }

    [Fact]
    public async Task A_client_that_may_wait_for_its_server_does_not_hold_up_the_host()
    {
        HostApplicationBuilder builder = Create(
            ("FastPortClient:Endpoint", "inproc://nobody-is-there"), ("FastPortClient:RetryConnect", "true"));
        builder.Services.AddFastPortClient(builder.Configuration);
        using IHost host = builder.Build();

        await host.StartAsync().WaitAsync(Loopback.Soon);

        Assert.Null(host.Services.GetRequiredService<FastPortClient>().Session);
        await host.StopAsync().WaitAsync(Loopback.Soon);
    }

    [Theory]
    [InlineData(
        "ConnectTimeout", "00:00:00", "FastPortClient:ConnectTimeout is 00:00:00; allowed: values above 00:00:00, up to 1.00:00:00.")]
    [InlineData("Reconnect", "perhaps", "FastPortClient:Reconnect is 'perhaps'; allowed: true, false.")]
    [InlineData(
        "RequestTimeout", "soon",
        "FastPortClient:RequestTimeout is 'soon'; allowed: 00:00:00 (off) to 1.00:00:00, written as hh:mm:ss, or as d.hh:mm:ss for a "
            + "day or more.")]
    public async Task A_wrong_value_of_a_client_stops_the_start(string key, string value, string problem)
    {
        HostApplicationBuilder builder = Create(($"FastPortClient:{key}", value));
        builder.Services.AddFastPortClient(builder.Configuration);
        using IHost host = builder.Build();

        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        Assert.Equal(problem, Assert.Single(failure.Failures));
    }

    [Fact]
    public async Task Servers_of_other_protocols_run_with_the_host()
    {
        HostApplicationBuilder builder = Create(("ConnectionServer:Endpoints:0", "tcp://127.0.0.1:0"), ("Lines:MaxConnections", "0"));
        builder.Services.AddSingleton("a service");
        builder.Services.AddConnectionServer(builder.Configuration, static (provider, _) => new PipeProtocol(
            async (pipe, _) => await pipe.Output.WriteAsync(
                System.Text.Encoding.ASCII.GetBytes(provider.GetRequiredService<string>())), NullLogger.Instance));
        using IHost host = builder.Build();
        await host.StartAsync();
        using var client = new System.Net.Sockets.TcpClient();
        await client.ConnectAsync("127.0.0.1", host.Services.GetRequiredService<ConnectionServer>().Endpoints[0].Port);
        using var reader = new StreamReader(client.GetStream());

        Assert.Equal("a service", await reader.ReadToEndAsync().WaitAsync(Loopback.Soon));

        await host.StopAsync();
        builder = Create(("Lines:MaxConnections", "0"));
        builder.Services.AddConnectionServer("lines", builder.Configuration.GetSection("Lines"), static (_, _) =>
            throw new NotSupportedException());
        using IHost wrong = builder.Build();
        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => wrong.StartAsync());
        Assert.Equal(2, failure.Failures.Count(static f => f.StartsWith("Lines:", StringComparison.Ordinal)));
    }

    private static HostApplicationBuilder Create(params (string Key, string Value)[] settings)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(settings.Select(static s => KeyValuePair.Create<string, string?>(s.Key, s.Value)));
        return builder;
    }
}
