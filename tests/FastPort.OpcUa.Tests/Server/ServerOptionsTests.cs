using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Options that cannot be used are refused before anything starts, all at once.</summary>
public sealed class ServerOptionsTests
{
    [Fact]
    public void Defaults_need_an_endpoint_only()
    {
        _ = new OpcUaServer(new OpcUaServerOptions { Endpoints = { "opc.tcp://127.0.0.1:0" } });

        Assert.Equal(
            ["OpcUaServer:Endpoints is empty; give a list of URIs such as opc.tcp://0.0.0.0:4840/path."],
            Problems(new OpcUaServerOptions()));
    }

    [Fact]
    public void Every_problem_is_named()
    {
        var options = new OpcUaServerOptions
        {
            Endpoints = { "tcp://127.0.0.1:0", "opc.tcp://127.0.0.1:0", "nonsense" },
            ApplicationUri = "no uri",
            ApplicationName = " ",
            SecurityPolicies = [(OpcUaSecurityPolicy)99],
            MaxSessions = 0,
            MaxChunkBytes = 8191,
            MaxMessageBytes = int.MaxValue,
            HandshakeTimeout = TimeSpan.Zero,
            MaxSessionTimeout = TimeSpan.FromMilliseconds(1),
            MaxBrowseContinuationPoints = 0,
            MaxQueueSize = -1,
        };

        IReadOnlyList<string> problems = Problems(options);
        Assert.StartsWith("OpcUaServer:Endpoints: 'nonsense' is not an endpoint; ", problems[0], StringComparison.Ordinal);
        Assert.Equal(
            [
                "OpcUaServer:Endpoints is 'tcp://127.0.0.1:0'; give a list of URIs such as opc.tcp://0.0.0.0:4840/path.",
                "OpcUaServer:ApplicationUri is 'no uri'; give an absolute URI in ASCII.",
                "OpcUaServer:ApplicationName is empty; give a name.",
                "OpcUaServer:SecurityPolicies is '99'; "
                    + "give a list; allowed: None, Basic256Sha256, Aes128Sha256RsaOaep, Aes256Sha256RsaPss.",
                "OpcUaServer:HandshakeTimeout is 00:00:00; allowed: 00:00:00.1000000 to 1.00:00:00.",
                "OpcUaServer:MaxMessageBytes is 2147483647; allowed: 8192 to 1073741824.",
                "OpcUaServer:MaxChunkBytes is 8191; allowed: 8192 to 1048576.",
                "OpcUaServer:MaxSessions is 0; allowed: 1 to 10000000.",
                "OpcUaServer:MaxSessionTimeout is 00:00:00.0010000; allowed: 00:00:01 to 30.00:00:00.",
                "OpcUaServer:MaxBrowseContinuationPoints is 0; allowed: 1 to 65535.",
                "OpcUaServer:MaxQueueSize is -1; allowed: 1 to 10000000.",
            ],
            problems.Skip(1));
    }

    [Fact]
    public void Tls_is_refused_as_security_is_by_policies()
    {
        var options = new OpcUaServerOptions { Endpoints = { "opc.tcp://127.0.0.1:0" }, Tls = { CertificateFile = "server.pem" } };

        Assert.Equal(
            ["OpcUaServer:Tls is set, but OPC UA has its own security; use SecurityPolicies and Certificates."], Problems(options));
    }

    private static IReadOnlyList<string> Problems(OpcUaServerOptions options) =>
        Assert.Throws<FastPortOptionsException>(() => new OpcUaServer(options)).Problems;
}
