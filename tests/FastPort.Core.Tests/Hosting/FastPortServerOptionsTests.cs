using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

public sealed class FastPortServerOptionsTests
{
    private const string UnusedTls =
        "FastPort:Tls is set, but no endpoint is tls:// or wss://; give one, as tls://0.0.0.0:6628, or remove the section.";

    public static TheoryData<Action<FastPortServerOptions>, string> Wrong => new()
    {
        { static o => o.MaxConnections = 0, "FastPort:MaxConnections is 0; allowed: 1 to 1000000." },
        { static o => o.MaxConnectionsPerAddress = -1, "FastPort:MaxConnectionsPerAddress is -1; allowed: 0 to 1000000." },
        { static o => o.DuplicateIdentity = (DuplicateIdentityPolicy)9, "FastPort:DuplicateIdentity is 9; allowed: Refuse, TakeOver." },
        { static o => o.DrainDelay = TimeSpan.FromHours(2), "FastPort:DrainDelay is 02:00:00; allowed: 00:00:00 to 01:00:00." },
        { static o =>
            o.ShutdownTimeout = TimeSpan.FromHours(2), "FastPort:ShutdownTimeout is 02:00:00; allowed: 00:00:00 to 01:00:00." },
        { static o => o.ShutdownGrace = TimeSpan.FromSeconds(
            6), "FastPort:ShutdownGrace is 00:00:06; allowed: 00:00:00 to ShutdownTimeout (00:00:05)." },
        { static o => o.ServerName = " ", "FastPort:ServerName is empty; give the server a name." },
        { static o => o.Session.MaxFrameBytes = 1023, "FastPort:Session:MaxFrameBytes is 1023; allowed: 1024 to 268435456." },
        { static o => o.Session.MaxFrameBytes = 268435457, "FastPort:Session:MaxFrameBytes is 268435457; allowed: 1024 to 268435456." },
        { static o => o.Session.SendQueueBytes = 4095, "FastPort:Session:SendQueueBytes is 4095; allowed: 4096 to 268435456." },
        { static o => o.Session.MaxInFlightRequests = 0, "FastPort:Session:MaxInFlightRequests is 0; allowed: 1 to 1000000." },
        { static o => o.Session.MaxQueuedBytes = 0, "FastPort:Session:MaxQueuedBytes is 0; allowed: 1024 to 1073741824." },
        { static o => o.Session.MaxConcurrency = 0, "FastPort:Session:MaxConcurrency is 0; allowed: 1 to 10000." },
        { static o => o.Session.SendQueueFull = (
            SendQueueFullPolicy)7, "FastPort:Session:SendQueueFull is 7; allowed: Wait, DropOneWay, Disconnect." },
        { static o => o.Session.IdleTimeout = TimeSpan.FromSeconds(
            -1), "FastPort:Session:IdleTimeout is -00:00:01; allowed: 00:00:00 (off) to 1.00:00:00." },
        { static o => o.Session.KeepAlive = TimeSpan.FromSeconds(
            32_768), "FastPort:Session:KeepAlive is 09:06:08; allowed: 00:00:00 to 09:06:07." },
        { static o => o.Routing.MaxTopicsPerSession = 0, "FastPort:Routing:MaxTopicsPerSession is 0; allowed: 1 to 1000000." },
        { static o => o.Routing.MaxTopicBytes = 1025, "FastPort:Routing:MaxTopicBytes is 1025; allowed: 1 to 1024." },
        { static o => o.Session.HandshakeTimeout = TimeSpan.FromDays(
            2), "FastPort:Session:HandshakeTimeout is 2.00:00:00; allowed: 00:00:00 (off) to 1.00:00:00." },
        { static o => o.Tls.CertificateFile = "server.pem", UnusedTls },
        { static o => o.Tls.CertificateFolder = "certificates", UnusedTls },
        { static o => o.Tls.UseDevelopmentCertificate = true, UnusedTls },
    };

    [Theory]
    [MemberData(nameof(Wrong))]
    public void A_wrong_value_is_named_with_its_key_and_the_allowed_range(Action<FastPortServerOptions> spoil, string expected)
    {
        var options = new FastPortServerOptions();
        spoil(options);

        Assert.Equal(expected, Assert.Single(options.Validate()));
        var e = Assert.Throws<FastPortOptionsException>(() => new FastPortServer(options, new MessageHandlers()));
        Assert.Contains(expected, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Every_wrong_value_is_reported_at_once()
    {
        var options = new FastPortServerOptions { MaxConnections = -5, ServerName = "" };
        options.Endpoints.Add("tcp:/nowhere");

        Assert.Equal(3, options.Validate().Count);
    }

    [Fact]
    public void Tls_is_for_an_endpoint_that_is_encrypted()
    {
        var options = new FastPortServerOptions
        {
            Endpoints = { "tcp://127.0.0.1:0", "tls://127.0.0.1:0" },
            Tls = { CertificateFile = "server.pem" },
        };
        var other = new ConnectionServerOptions { Endpoints = { "tcp://127.0.0.1:0" }, Tls = { CertificateFile = "server.pem" } };

        Assert.Empty(options.Validate());
        Assert.Equal(UnusedTls.Replace("FastPort:", "ConnectionServer:", StringComparison.Ordinal), Assert.Single(other.Validate()));
    }

    [Fact]
    public void The_limits_themselves_are_allowed()
    {
        var options = new FastPortServerOptions
        {
            MaxConnections = 1_000_000,
            ShutdownTimeout = TimeSpan.Zero,
            ShutdownGrace = TimeSpan.Zero,
        };
        options.Session.MaxFrameBytes = 256 * 1024 * 1024;
        options.Session.SendQueueBytes = 1 << 28;
        options.Session.MaxConcurrency = 10_000;
        options.Routing.MaxTopicsPerSession = 1_000_000;
        options.Routing.MaxTopicBytes = 1024;

        Assert.Empty(options.Validate());
        Assert.Empty(new FastPortServerOptions().Validate());
    }
}
