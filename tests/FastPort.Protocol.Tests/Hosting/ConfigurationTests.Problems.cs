using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

/// <content>What the start says about values and keys that are not allowed.</content>
public sealed partial class ConfigurationTests
{
    [Theory]
    [InlineData("FastPort:MaxConnections", "0", "0", "1 to 1000000")]
    [InlineData("FastPort:MaxConnectionsPerAddress", "-1", "-1", "0 to 1000000")]
    [InlineData("FastPort:ShutdownTimeout", "02:00:00", "02:00:00", "00:00:00 to 01:00:00")]
    [InlineData("FastPort:ShutdownGrace", "00:00:06", "00:00:06", "00:00:00 to ShutdownTimeout (00:00:05)")]
    [InlineData("FastPort:ServerName", " ", "empty", "name")]
    [InlineData("FastPort:Endpoints", "localhost", "localhost", "tcp://")]
    [InlineData("FastPort:Session:MaxFrameBytes", "1023", "1023", "1024 to 268435456")]
    [InlineData("FastPort:Session:SendQueueBytes", "1", "1", "4096 to 268435456")]
    [InlineData("FastPort:Session:MaxInFlightRequests", "0", "0", "1 to 1000000")]
    [InlineData("FastPort:Session:MaxQueuedBytes", "5", "5", "1024 to 1073741824")]
    [InlineData("FastPort:Session:MaxConcurrency", "10001", "10001", "1 to 10000")]
    [InlineData("FastPort:Session:SendQueueFull", "17", "17", "Wait, DropOneWay, Disconnect")]
    [InlineData("FastPort:Session:IdleTimeout", "-00:00:01", "-00:00:01", "00:00:00 (off) to 1.00:00:00")]
    [InlineData("FastPort:Session:HeartbeatInterval", "2.00:00:00", "2.00:00:00", "00:00:00 (off) to 1.00:00:00")]
    [InlineData("FastPort:Session:KeepAlive", "09:06:08", "09:06:08", "00:00:00 to 09:06:07")]
    [InlineData("FastPort:Routing:MaxTopicsPerSession", "0", "0", "1 to 1000000")]
    [InlineData("LatencyStats:FileWriteIntervalSeconds", "0", "0", "1 to 86400")]
    [InlineData("LatencyStats:MaxSamplesInMemory", "-5", "-5", "0 (none) to 10000000")]
    public async Task A_value_out_of_range_stops_the_start_with_key_value_and_range(string key, string value, string shown, string allowed)
    {
        using IHost host = TestHost.Build(settings: [(key == "FastPort:Endpoints" ? "FastPort:Endpoints:0" : key, value)]);

        OptionsValidationException failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        string problem = Assert.Single(failure.Failures);
        Assert.Contains(key, problem, StringComparison.Ordinal);
        Assert.Contains(shown, problem, StringComparison.Ordinal);
        Assert.Contains(allowed, problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("FastPort:MaxConnections", "many", "allowed: 1 to 1000000")]
    [InlineData("FastPort:MaxConnections", "99999999999", "allowed: 1 to 1000000")]
    [InlineData("FastPort:Loops", "1.5", "allowed: values from 0 (one per core) to 256")]
    [InlineData("FastPort:SpinMicroseconds", "adaptive", "allowed: values from 0 to 1000000, or none for adaptive")]
    [InlineData("FastPort:Transport", "Quic", "allowed: Auto, Epoll, Sockets")]
    [InlineData("FastPort:DuplicateIdentity", "Maybe", "allowed: Refuse, TakeOver")]
    [InlineData("FastPort:DuplicateIdentity", "Refuse, TakeOver", "allowed: Refuse, TakeOver")]
    [InlineData("FastPort:RequireRoutingId", "1", "allowed: true, false")]
    [InlineData("FastPort:ShutdownTimeout", "soon", $"allowed: 00:00:00 to 01:00:00{TimeForm}")]
    [InlineData(
        "FastPort:Endpoints", "tcp://127.0.0.1:7000",
        "give a list of URIs: tcp://host:port, tls://host:port, unix:///path or inproc://name")]
    [InlineData("FastPort:Session:MaxFrameBytes", "1 MiB", "allowed: 1024 to 268435456")]
    [InlineData("FastPort:Session:IdleTimeout", "5 minutes", $"allowed: 00:00:00 (off) to 1.00:00:00{TimeForm}")]
    [InlineData("FastPort:Session:IdleTimeout", "1", $"allowed: 00:00:00 (off) to 1.00:00:00{TimeForm}")]
    [InlineData("FastPort:Session:IdleTimeout", "24:00:00", $"allowed: 00:00:00 (off) to 1.00:00:00{TimeForm}")]
    [InlineData("FastPort:Session:IdleTimeout", "00:30", $"allowed: 00:00:00 (off) to 1.00:00:00{TimeForm}")]
    [InlineData("FastPort:DrainDelay", "0.5", $"allowed: 00:00:00 to 01:00:00{TimeForm}")]
    [InlineData("FastPort:Session:IdleTimeout", "00:00:60", $"allowed: 00:00:00 (off) to 1.00:00:00{TimeForm}")]
    [InlineData("FastPort:Session:SendQueueFull", "1", "allowed: Wait, DropOneWay, Disconnect")]
    [InlineData("FastPort:Routing:Relay", "on", "allowed: true, false")]
    [InlineData("LatencyStats:EnableFileOutput", "perhaps", "allowed: true, false")]
    [InlineData("LatencyStats:FileWriteIntervalSeconds", "1m", "give 1 to 86400 seconds")]
    public async Task A_value_that_cannot_be_read_stops_the_start_with_key_value_and_what_is_allowed(
        string key, string value, string allowed)
    {
        using IHost host = TestHost.Build(settings: [(key, value)]);

        OptionsValidationException failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        Assert.Equal($"{key} is '{value}'; {allowed}.", Assert.Single(failure.Failures));
    }

    [Theory]
    [InlineData("FastPort:MaxConections", "MaxConnections, MaxConnectionsPerAddress")]
    [InlineData("FastPort:Session:MaxFrame", "MaxFrameBytes, SendQueueBytes")]
    [InlineData("FastPort:Routing:Relays", "Relay, Topics, Peers")]
    [InlineData("LatencyStats:Directory", "OutputDirectory, OutputFilePrefix")]
    public async Task An_unknown_key_stops_the_start_with_its_path_and_the_known_ones(string key, string known)
    {
        using IHost host = TestHost.Build(settings: [(key, "1")]);

        OptionsValidationException failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        string problem = Assert.Single(failure.Failures);
        Assert.StartsWith($"{key} is not a known key", problem, StringComparison.Ordinal);
        Assert.Contains(known, problem, StringComparison.Ordinal);
    }

    [Fact]
    public void Unknown_keys_and_wrong_values_are_reported_together()
    {
        FastPortOptionsException failure = Assert.Throws<FastPortOptionsException>(
            () => Bind(("FastPort:MaxConnections", "many"), ("FastPort:Session:Idle", "5")));

        Assert.Equal(2, failure.Problems.Count);
    }

    [Fact]
    public async Task All_values_out_of_range_are_reported_at_once()
    {
        using IHost host = TestHost.Build(settings: [("FastPort:MaxConnections", "0"), ("FastPort:Session:MaxConcurrency", "0")]);

        OptionsValidationException failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        Assert.Equal(2, failure.Failures.Count());
    }

    [Fact]
    public async Task Problems_of_all_sections_are_reported_at_once_whatever_service_reads_options_first()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(
            [
                new("FastPort:MaxConnections", "0"),
                new("FastPort:Backplane:Node", "a"),
                new("LatencyStats:Directory", "x"),
                new("Field:Loops", "-1"),
                new("Client:Loop", "1"),
            ]);
        builder.Services.AddHostedService<ServerUser>();
        builder.Services.AddFastPort(builder.Configuration);
        builder.Services.AddFastPort("field", builder.Configuration.GetSection("Field"));
        builder.Services.AddFastPortClient("client", builder.Configuration.GetSection("Client"));
        using IHost host = builder.Build();

        OptionsValidationException failure = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        Assert.Equal(
            ["Client:Loop", "FastPort:Backplane", "FastPort:MaxConnections", "Field:Loops", "LatencyStats:Directory"],
            failure.Failures.Select(static problem => problem.Split(' ')[0]).Order(StringComparer.Ordinal));
    }

    // A service that needs the server, and so its options, before the host has checked them.
    private sealed class ServerUser(FastPortServer server) : BackgroundService
    {
        protected override Task ExecuteAsync(CancellationToken stoppingToken) => Task.FromResult(server);
    }
}
