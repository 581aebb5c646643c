using System.Reflection;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

public sealed partial class ConfigurationTests
{
    private const string TimeForm = ", written as hh:mm:ss, or as d.hh:mm:ss for a day or more";

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

        var options = host.Host.Services.GetRequiredService<IOptions<FastPortServerOptions>>().Value;

        Assert.Equal(["tcp://127.0.0.1:0"], options.Endpoints);
        Assert.Equal("plant 7", options.ServerName);
        Assert.Equal(17, options.MaxConnections);
        Assert.Equal(DuplicateIdentityPolicy.TakeOver, options.DuplicateIdentity);
        Assert.Equal(TimeSpan.FromSeconds(3), options.ShutdownTimeout);
        Assert.Equal(4096, options.Session.MaxFrameBytes);
        Assert.Equal(SendQueueFullPolicy.DropOneWay, options.Session.SendQueueFull);
        Assert.Equal(TimeSpan.FromMinutes(10), options.Session.IdleTimeout);
        Assert.Equal(
            (true, false, false, 77),
            (options.Routing.Relay, options.Routing.Topics, options.Routing.Peers, options.Routing.MaxTopicBytes));
        Assert.Equal(new FastPortServerOptions().MaxConnectionsPerAddress, options.MaxConnectionsPerAddress);
    }

    [Fact]
    public async Task A_section_Backplane_that_the_program_does_not_read_stops_the_start()
    {
        var e = await Assert.ThrowsAsync<OptionsValidationException>(
            () => TestHost.StartAsync(settings: [("FastPort:Backplane:Connection", "127.0.0.1:6379")]));

        Assert.Contains("FastPort:Backplane is set, but this program joins no nodes", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_six_keys_of_LatencyStats_are_read()
    {
        var configuration = new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["LatencyStats:EnableConsoleOutput"] = "false",
            ["LatencyStats:EnableFileOutput"] = "false",
            ["LatencyStats:OutputDirectory"] = "/var/stats",
            ["LatencyStats:OutputFilePrefix"] = "mine",
            ["LatencyStats:FileWriteIntervalSeconds"] = "5",
            ["LatencyStats:MaxSamplesInMemory"] = "0",
        }).Build();

        var options = FastPortConfiguration.BindLatencyStats(configuration);

        Assert.False(options.EnableConsoleOutput);
        Assert.False(options.EnableFileOutput);
        Assert.Equal("/var/stats", options.OutputDirectory);
        Assert.Equal("mine", options.OutputFilePrefix);
        Assert.Equal(5, options.FileWriteIntervalSeconds);
        Assert.Equal(0, options.MaxSamplesInMemory);
    }

    [Fact]
    public void Code_changes_options_after_they_were_bound()
    {
        var services = new ServiceCollection();
        services.AddFastPort(
            new ConfigurationBuilder().AddInMemoryCollection([new("FastPort:MaxConnections", "17")]).Build(),
            static options => options.MaxConnections *= 2);
        using ServiceProvider provider = services.BuildServiceProvider();

        Assert.Equal(34, provider.GetRequiredService<IOptions<FastPortServerOptions>>().Value.MaxConnections);
    }

    [Theory]
    [InlineData("FastPort:ShutdownTimeout", "00:00:01")]
    [InlineData("FastPort:ShutdownGrace", "00:00:08")]
    [InlineData("FastPort:Tls:KeyFile", "server.key")]
    [InlineData("FastPort:Tls:ClientAuthorityFile", "ca.pem")]
    public void Options_that_must_fit_together_may_come_half_from_the_section_and_half_from_code(string key, string value)
    {
        var services = new ServiceCollection();
        services.AddFastPort(new ConfigurationBuilder().AddInMemoryCollection([new(key, value)]).Build(), options =>
        {
            if (key == "FastPort:ShutdownTimeout")
            {
                options.ShutdownGrace = TimeSpan.Zero;
            }
            else if (key == "FastPort:ShutdownGrace")
            {
                options.ShutdownTimeout = TimeSpan.FromSeconds(8);
            }

            options.Endpoints = ["tls://127.0.0.1:0"];
            options.Tls.CertificateFile = "server.pem";
            options.Tls.ClientCertificates = ClientCertificateMode.Required;
        });
        using ServiceProvider provider = services.BuildServiceProvider();

        Assert.Equal("server.pem", provider.GetRequiredService<IOptions<FastPortServerOptions>>().Value.Tls.CertificateFile);
    }

    [Fact]
    public void Values_of_section_and_code_that_do_not_fit_together_are_refused_once()
    {
        var services = new ServiceCollection();
        services.AddFastPort(
            new ConfigurationBuilder().AddInMemoryCollection([new("FastPort:ShutdownTimeout", "00:00:04")]).Build(),
            static options => options.ShutdownGrace = TimeSpan.FromSeconds(5));
        using ServiceProvider provider = services.BuildServiceProvider();

        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(
            () => provider.GetRequiredService<IOptions<FastPortServerOptions>>().Value);

        Assert.Equal(
            ["FastPort:ShutdownGrace is 00:00:05; allowed: 00:00:00 to ShutdownTimeout (00:00:04)."], failure.Failures);
    }

    [Fact]
    public void A_wrong_value_of_the_section_is_named_though_code_has_replaced_it()
    {
        var services = new ServiceCollection();
        services.AddFastPort(
            new ConfigurationBuilder().AddInMemoryCollection([new("FastPort:Endpoints:0", "nowhere")]).Build(),
            static options => options.Endpoints = []);
        using ServiceProvider provider = services.BuildServiceProvider();

        OptionsValidationException failure = Assert.Throws<OptionsValidationException>(
            () => provider.GetRequiredService<IOptions<FastPortServerOptions>>().Value);

        Assert.StartsWith("FastPort:Endpoints: 'nowhere'", Assert.Single(failure.Failures), StringComparison.Ordinal);
    }

    [Fact]
    public void An_empty_list_of_JSON_replaces_the_list_and_null_leaves_it()
    {
        Assert.Empty(Read("[]"));
        Assert.Equal(["tcp://127.0.0.1:7"], Read("null"));

        static IList<string> Read(string json)
        {
            using var stream = new MemoryStream(System.Text.Encoding.UTF8.GetBytes("{\"FastPort\": {\"Endpoints\": " + json + "}}"));
            IServiceCollection services = new ServiceCollection();

            // Before the section is read.
            services.Configure<FastPortServerOptions>(static o => o.Endpoints = ["tcp://127.0.0.1:7"]);
            services.AddFastPort(new ConfigurationBuilder().AddJsonStream(stream).Build());
            using ServiceProvider provider = services.BuildServiceProvider();
            return provider.GetRequiredService<IOptions<FastPortServerOptions>>().Value.Endpoints;
        }
    }

    [Theory]
    [InlineData("0", 0)]
    [InlineData("00:00:30", 30)]
    [InlineData("00:00:00.25", 0.25)]
    [InlineData("23:59:59", 86_399)]
    [InlineData("1.00:00:00", 86_400)]
    public void Times_are_hours_minutes_and_seconds_with_days_before_them(string text, double seconds) => Assert.Equal(
        TimeSpan.FromSeconds(seconds), Bind(("FastPort:Session:IdleTimeout", text)).Session.IdleTimeout);

    [Fact]
    public void A_text_in_the_place_of_a_section_is_named_and_not_shown()
    {
        FastPortOptionsException failure = Assert.Throws<FastPortOptionsException>(() => Bind(("FastPort:Session", "s3cret")));

        Assert.Equal(["FastPort:Session is a single value; give a section with keys."], failure.Problems);
    }

    [Fact]
    public void A_section_in_the_place_of_a_value_is_named()
    {
        FastPortOptionsException failure = Assert.Throws<FastPortOptionsException>(
            () => Bind(("FastPort:MaxConnections:0", "5"), ("FastPort:Endpoints:0:Port", "7000")));

        Assert.Equal(
            [
                "FastPort:Endpoints is a list of sections; give a list of URIs: tcp://host:port, tls://host:port, unix:///path or "
                    + "inproc://name.",
                "FastPort:MaxConnections is a section; allowed: 1 to 1000000.",
            ],
            failure.Problems);
    }

    [Fact]
    public void Keys_without_a_value_leave_the_default_and_an_empty_number_that_may_be_none_is_none()
    {
        FastPortServerOptions options = Bind(
            ("FastPort:MaxConnections", null), ("FastPort:Endpoints", ""), ("FastPort:Session", ""), ("FastPort:SpinMicroseconds", ""),
            ("FastPort:UnixSocketPermissions", null));

        Assert.Equal(new FastPortServerOptions().MaxConnections, options.MaxConnections);
        Assert.Empty(options.Endpoints);
        Assert.Null(options.SpinMicroseconds);
        Assert.Null(options.UnixSocketPermissions);
    }

    /// <summary>A value other than the default for every property there is, so that none is forgotten or read from another's key.</summary>
    [Fact]
    public void Every_option_is_read_from_the_key_of_its_name()
    {
        int next = 5000;
        Dictionary<string, string?> settings = [];
        Dictionary<string, string?> expected = [];
        var defaults = new FastPortServerOptions();
        Give("FastPort", defaults);
        Give("FastPort:Session", defaults.Session);
        Give("FastPort:Routing", defaults.Routing);
        Give("LatencyStats", new LatencyStatsOptions());
        settings["FastPort:Routing:MaxTopicBytes"] = expected["FastPort:Routing:MaxTopicBytes"] = "77";
        settings["FastPort:Loops"] = expected["FastPort:Loops"] = "3";
        settings["FastPort:UnixSocketPermissions"] = expected["FastPort:UnixSocketPermissions"] = "0660";
        settings.Remove("FastPort:Endpoints");
        settings.Remove("FastPort:Routing:SharedTopics");
        settings.Remove("FastPort:TrustedProxies");
        settings["FastPort:TrustedProxies:0"] = expected["FastPort:TrustedProxies"] = "10.0.0.0/8";
        settings["FastPort:Routing:SharedTopics:0"] = expected["FastPort:Routing:SharedTopics"] = "news/";
        settings["FastPort:Endpoints:0"] = expected["FastPort:Endpoints"] = "inproc://here";
        settings["FastPort:Transport"] = expected["FastPort:Transport"] = nameof(TransportKind.Sockets);

        IConfiguration configuration = new ConfigurationBuilder().AddInMemoryCollection(settings).Build();
        FastPortServerOptions options = FastPortConfiguration.BindServer(configuration);
        Dictionary<string, string?> read = [];
        Take("FastPort", options);
        Take("FastPort:Session", options.Session);
        Take("FastPort:Routing", options.Routing);
        Take("LatencyStats", FastPortConfiguration.BindLatencyStats(configuration));

        Assert.Equal(expected.OrderBy(static p => p.Key), read.OrderBy(static p => p.Key));

        void Give(string section, object options)
        {
            foreach (PropertyInfo property in options.GetType().GetProperties().Where(static p => p.CanWrite))
            {
                object? value = property.GetValue(options);
                settings[$"{section}:{property.Name}"] = expected[$"{section}:{property.Name}"] = value switch
                {
                    bool flag => flag ? "False" : "True",
                    Enum => Enum.GetNames(property.PropertyType)[1],
                    TimeSpan => TimeSpan.FromMilliseconds(
                        next++ - (property.Name == nameof(FastPortServerOptions.ShutdownGrace) ? 1000 : 0)).ToString("c"),
                    string => $"text{next++}",
                    _ => $"{next++}",
                };
            }
        }

        void Take(string section, object options)
        {
            foreach (PropertyInfo property in options.GetType().GetProperties().Where(static p => p.CanWrite))
            {
                object? value = property.GetValue(options);
                read[$"{section}:{property.Name}"] = value is IList<string> list ? string.Join(' ', list) : value?.ToString();
            }
        }
    }

    [Fact]
    public async Task Keys_are_known_in_any_case()
    {
        await using TestHost host = await TestHost.StartAsync(
            settings: [("fastport:maxconnections", "3"), ("FASTPORT:SESSION:MAXCONCURRENCY", "2")]);

        var options = host.Host.Services.GetRequiredService<IOptions<FastPortServerOptions>>().Value;

        Assert.Equal(3, options.MaxConnections);
        Assert.Equal(2, options.Session.MaxConcurrency);
    }

    private static FastPortServerOptions Bind(params (string Key, string? Value)[] settings) =>
        FastPortConfiguration.BindServer(new ConfigurationBuilder()
            .AddInMemoryCollection(settings.Select(static s => KeyValuePair.Create(s.Key, s.Value)))
            .Build());
}
