using FastPort.Aspire.Client;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Aspire.Tests;

/// <summary>What a client reads from configuration, and what the host starts with.</summary>
public sealed class ClientTests
{
    private const string Section = "Aspire:FastPort:Client";

    [Theory]
    [InlineData("tcp://127.0.0.1:4711")]
    [InlineData("Endpoint=tcp://127.0.0.1:4711")]
    [InlineData("endpoint = tcp://127.0.0.1:4711 ;")]
    [InlineData(" tcp://127.0.0.1:4711 \n")]
    [InlineData("tcp://127.0.0.1:4711;Token=secret")]
    [InlineData("Endpoint=\"tcp://127.0.0.1:4711\"")]
    public void The_connection_string_is_an_endpoint_or_names_it(string connection)
    {
        FastPortClientOptions options = Options(("ConnectionStrings:game", connection));

        Assert.Equal("tcp://127.0.0.1:4711", options.Endpoint);
        Assert.True(options.RetryConnect);
    }

    [Fact]
    public void The_connection_string_has_further_options()
    {
        FastPortClientOptions options = Options(
            ("ConnectionStrings:game", "Endpoint=tls://game.example:4711;Token=a=b;Tls:ServerName=game;RetryConnect=false"));

        Assert.Equal("tls://game.example:4711", options.Endpoint);
        Assert.Equal("a=b", options.Token);
        Assert.Equal("game", options.Tls.ServerName);
        Assert.False(options.RetryConnect);
    }

    [Fact]
    public void A_connection_string_in_the_section_counts_if_there_is_no_other()
    {
        (string, string) inSection = ($"{Section}:game:ConnectionString", "tcp://127.0.0.1:1");

        Assert.Equal("tcp://127.0.0.1:1", Options(inSection).Endpoint);
        Assert.Equal("tcp://127.0.0.1:2", Options(inSection, ("ConnectionStrings:game", "tcp://127.0.0.1:2")).Endpoint);
    }

    [Fact]
    public void Options_come_from_the_common_section_that_of_the_name_the_connection_string_and_code_in_this_order()
    {
        FastPortClientOptions options = Options(
            static options => options.CloseTimeout = TimeSpan.FromSeconds(9),
            ($"{Section}:ClientOptions:RequestTimeout", "00:00:01"),
            ($"{Section}:ClientOptions:Session:IdleTimeout", "00:00:02"),
            ($"{Section}:ClientOptions:RoutingId", "common"),
            ($"{Section}:ClientOptions:CloseTimeout", "00:00:01"),
            ($"{Section}:game:ClientOptions:RequestTimeout", "00:00:03"),
            ($"{Section}:game:ClientOptions:RoutingId", "own"),
            ("ConnectionStrings:game", "Endpoint=tcp://127.0.0.1:1;RoutingId=given"));

        Assert.Equal(TimeSpan.FromSeconds(3), options.RequestTimeout);
        Assert.Equal(TimeSpan.FromSeconds(2), options.Session.IdleTimeout);
        Assert.Equal("given", options.RoutingId);
        Assert.Equal(TimeSpan.FromSeconds(9), options.CloseTimeout);
    }

    [Fact]
    public async Task A_missing_connection_string_stops_the_start()
    {
        HostApplicationBuilder builder = Builder();
        builder.AddFastPortClient("game");
        using IHost host = builder.Build();

        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync(Patience.Token));

        Assert.StartsWith("ConnectionStrings:game is missing.", Assert.Single(e.Failures), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_wrong_option_stops_the_start_and_is_named()
    {
        HostApplicationBuilder builder = Builder(
            ("ConnectionStrings:game", "Endpoint=http://127.0.0.1:1;Tokn=x"), ($"{Section}:game:ClientOptions:RequestTimeout", "soon"));
        builder.AddFastPortClient("game");
        using IHost host = builder.Build();

        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync(Patience.Token));

        Assert.Contains(e.Failures, static one => one.Contains(":game:ClientOptions:RequestTimeout is 'soon'", StringComparison.Ordinal));
        Assert.Contains(e.Failures, static one => one.Contains("tokn is not a known key", StringComparison.OrdinalIgnoreCase));
    }

    [Theory]
    [InlineData("secret", "is neither")]
    [InlineData("Token=secret", "names no Endpoint")]
    [InlineData("Endpoint=;Token=secret", "names no Endpoint")]
    public async Task Text_that_is_no_connection_string_stops_the_start_and_is_not_shown(string text, string problem)
    {
        HostApplicationBuilder builder = Builder(("ConnectionStrings:game", text));
        builder.AddFastPortClient("game");
        using IHost host = builder.Build();

        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync(Patience.Token));

        Assert.StartsWith($"ConnectionStrings:game {problem}", Assert.Single(e.Failures), StringComparison.Ordinal);
        Assert.DoesNotContain("secret", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_setting_that_cannot_be_read_stops_the_start_and_is_named_with_all_other_problems()
    {
        HostApplicationBuilder builder = Builder(($"{Section}:game:DisableTracing", "yes"), ($"{Section}:DisableMetrics", "no"));
        builder.AddFastPortClient("game");
        using IHost host = builder.Build();

        OptionsValidationException e = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync(Patience.Token));

        Assert.Equal(
            [
                $"{Section}:DisableMetrics is 'no'; allowed: true, false.",
                $"{Section}:game:DisableTracing is 'yes'; allowed: true, false.",
            ],
            e.Failures.Take(2));
        Assert.StartsWith("ConnectionStrings:game is missing.", e.Failures.Last(), StringComparison.Ordinal);
    }

    [Fact]
    public void Settings_come_from_the_common_section_and_that_of_the_name_and_code_sees_them()
    {
        FastPortClientSettings? seen = null;
        HostApplicationBuilder builder = Builder(
            ($"{Section}:DisableMetrics", "true"), ($"{Section}:DisableTracing", "true"), ($"{Section}:game:DisableTracing", "false"),
            ("ConnectionStrings:game", "tcp://127.0.0.1:1"));

        builder.AddFastPortClient("game", settings =>
        {
            seen = settings;
            settings.ConnectionString = "tcp://127.0.0.1:2";
        });

        Assert.NotNull(seen);
        Assert.True(seen.DisableMetrics);
        Assert.False(seen.DisableTracing);
        Assert.False(seen.DisableHealthChecks);
        using IHost host = builder.Build();
        Assert.Equal(
            "tcp://127.0.0.1:2", host.Services.GetRequiredService<IOptions<FastPortClientOptions>>().Value.Endpoint);
    }

    private static FastPortClientOptions Options(params (string Key, string Value)[] configuration) => Options(null, configuration);

    private static FastPortClientOptions Options(
        Action<FastPortClientOptions>? configure, params (string Key, string Value)[] configuration)
    {
        HostApplicationBuilder builder = Builder(configuration);
        builder.AddFastPortClient("game", configureOptions: configure);
        using IHost host = builder.Build();
        return host.Services.GetRequiredService<IOptions<FastPortClientOptions>>().Value;
    }

    private static HostApplicationBuilder Builder(params (string Key, string Value)[] configuration)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        foreach ((string key, string value) in configuration)
        {
            builder.Configuration[key] = value;
        }

        return builder;
    }
}
