using FastPort.Hosting;
using FastPort.Sessions;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

public sealed class ConfigurationTests
{
    [Fact]
    public async Task Options_come_from_the_section_with_their_nested_section_and_lists()
    {
        await using TestHost host = await TestHost.StartAsync(settings:
        [
            ("FastPort:ServerName", "plant 7"),
            ("FastPort:MaxConnections", "17"),
            ("FastPort:DuplicateIdentity", "TakeOver"),
            ("FastPort:ShutdownTimeout", "00:00:03"),
            ("FastPort:Session:MaxFrameBytes", "4096"),
            ("FastPort:Session:SendQueueFull", "dropOneWay"),
            ("FastPort:Session:IdleTimeout", "00:10:00"),
            ("FastPort:Routing:Relay", "true"),
            ("FastPort:Routing:MaxTopicBytes", "77"),
        ]);

        var options = host.Host.Services.GetRequiredService<FastPortServerOptions>();

        Assert.Equal(["tcp://127.0.0.1:0"], options.Endpoints);
        Assert.Equal("plant 7", options.ServerName);
        Assert.Equal(17, options.MaxConnections);
        Assert.Equal(DuplicateIdentityPolicy.TakeOver, options.DuplicateIdentity);
        Assert.Equal(TimeSpan.FromSeconds(3), options.ShutdownTimeout);
        Assert.Equal(4096, options.Session.MaxFrameBytes);
        Assert.Equal(SendQueueFullPolicy.DropOneWay, options.Session.SendQueueFull);
        Assert.Equal(TimeSpan.FromMinutes(10), options.Session.IdleTimeout);
        Assert.Equal((true, false, false, 77), (options.Routing.Relay, options.Routing.Topics, options.Routing.Peers, options.Routing.MaxTopicBytes));
        Assert.Equal(new FastPortServerOptions().MaxConnectionsPerAddress, options.MaxConnectionsPerAddress);
    }

    [Fact]
    public void Code_changes_options_after_they_were_bound()
    {
        var services = new ServiceCollection();
        services.AddFastPort(
            new ConfigurationBuilder().AddInMemoryCollection([new("FastPort:MaxConnections", "17")]).Build(),
            static options => options.MaxConnections *= 2);
        using ServiceProvider provider = services.BuildServiceProvider();

        Assert.Equal(34, provider.GetRequiredService<FastPortServerOptions>().MaxConnections);
    }

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
    [InlineData("FastPort:Routing:MaxTopicsPerSession", "0", "0", "1 to 1000000")]
    [InlineData("LatencyStats:FileWriteIntervalSeconds", "0", "0", "1 to 86400")]
    [InlineData("LatencyStats:MaxSamplesInMemory", "-5", "-5", "0 (none) to 10000000")]
    public async Task A_value_out_of_range_stops_the_start_with_key_value_and_range(string key, string value, string shown, string allowed)
    {
        using IHost host = TestHost.Build(settings: [(key == "FastPort:Endpoints" ? "FastPort:Endpoints:0" : key, value)]);

        FastPortOptionsException failure = await Assert.ThrowsAsync<FastPortOptionsException>(() => host.StartAsync());

        string problem = Assert.Single(failure.Problems);
        Assert.Contains(key, problem, StringComparison.Ordinal);
        Assert.Contains(shown, problem, StringComparison.Ordinal);
        Assert.Contains(allowed, problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("FastPort:MaxConnections", "many")]
    [InlineData("FastPort:Session:MaxFrameBytes", "1 MiB")]
    [InlineData("FastPort:Session:IdleTimeout", "5 minutes")]
    [InlineData("FastPort:DuplicateIdentity", "Maybe")]
    [InlineData("LatencyStats:EnableFileOutput", "perhaps")]
    public async Task A_value_that_cannot_be_read_stops_the_start_with_key_and_value(string key, string value)
    {
        using IHost host = TestHost.Build(settings: [(key, value)]);

        FastPortOptionsException failure = await Assert.ThrowsAsync<FastPortOptionsException>(() => host.StartAsync());

        Assert.Contains(key, failure.Message, StringComparison.Ordinal);
        Assert.Contains(value, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("FastPort:MaxConections", "MaxConnections, MaxConnectionsPerAddress")]
    [InlineData("FastPort:Session:MaxFrame", "MaxFrameBytes, SendQueueBytes")]
    [InlineData("FastPort:Routing:Relays", "Relay, Topics, Peers")]
    [InlineData("LatencyStats:Directory", "OutputDirectory, OutputFilePrefix")]
    public async Task An_unknown_key_stops_the_start_with_its_path_and_the_known_ones(string key, string known)
    {
        using IHost host = TestHost.Build(settings: [(key, "1")]);

        FastPortOptionsException failure = await Assert.ThrowsAsync<FastPortOptionsException>(() => host.StartAsync());

        string problem = Assert.Single(failure.Problems);
        Assert.StartsWith($"{key} is no known key", problem, StringComparison.Ordinal);
        Assert.Contains(known, problem, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Keys_are_known_in_any_case()
    {
        await using TestHost host = await TestHost.StartAsync(settings: [("fastport:maxconnections", "3"), ("FASTPORT:SESSION:MAXCONCURRENCY", "2")]);

        var options = host.Host.Services.GetRequiredService<FastPortServerOptions>();

        Assert.Equal(3, options.MaxConnections);
        Assert.Equal(2, options.Session.MaxConcurrency);
    }

    [Fact]
    public async Task All_values_out_of_range_are_reported_at_once()
    {
        using IHost host = TestHost.Build(settings: [("FastPort:MaxConnections", "0"), ("FastPort:Session:MaxConcurrency", "0")]);

        FastPortOptionsException failure = await Assert.ThrowsAsync<FastPortOptionsException>(() => host.StartAsync());

        Assert.Equal(2, failure.Problems.Count);
    }
}
