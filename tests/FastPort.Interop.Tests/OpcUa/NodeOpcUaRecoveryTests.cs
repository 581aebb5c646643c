using System.Security.Cryptography.X509Certificates;
using FastPort.Interop.Tests.Peers;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>node-opcua's client against our server: it loses its connection or the server, and has a user with a certificate.</summary>
public sealed class NodeOpcUaRecoveryTests : IAsyncLifetime
{
    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;
    private OpcUaServer _server = null!;
    private VariableNode _number = null!;
    private X509Certificate2? _user;

    public async ValueTask InitializeAsync() => await StartAsync("opc.tcp://127.0.0.1:0");

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        _user?.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [NodeTheory]
    [InlineData("None", "None")]
    [InlineData("Basic256Sha256", "SignAndEncrypt")]
    public async Task Its_session_goes_on_when_its_connection_breaks(string policy, string mode)
    {
        using NodeProcess node = Play("break", policy, mode);
        await node.ReadLineAsync<string>();
        for (int i = 1; i <= 5; i++)
        {
            _number.Value = new DataValue(i);
        }

        await node.SendLineAsync();
        Seen seen = await node.FinishAsync<Seen>();

        Assert.True(seen.Same);
        Assert.Equal([0, 1, 2, 3, 4, 5], seen.Values);
    }

    [NodeFact]
    public async Task It_connects_again_when_the_server_restarts()
    {
        using NodeProcess node = Play("restart");
        await node.ReadLineAsync<string>();
        string url = _server.Endpoints[0].ToString();
        await _server.DisposeAsync();
        await StartAsync(url, number: 7);

        await node.SendLineAsync();
        Seen seen = await node.FinishAsync<Seen>();

        Assert.Equal([0, 7], seen.Values);
    }

    [NodeFact]
    public async Task Its_deadband_in_percent_is_one_of_the_range()
    {
        using NodeProcess node = Play("percent");

        Assert.Equal<double[]>([0, 21, 42, 100], (await node.FinishAsync<Seen>()).Values);
    }

    [NodeTheory]
    [InlineData("None", "None")]
    [InlineData("Basic256Sha256", "SignAndEncrypt")]
    [InlineData("Aes256_Sha256_RsaPss", "Sign")]
    public async Task Its_user_has_a_certificate(string policy, string mode)
    {
        using NodeProcess node = Play("user", policy, mode);
        await node.FinishAsync<Seen>();

        Assert.NotNull(_user);
    }

    private NodeProcess Play(string scenario, params string[] security) =>
        NodeProcess.Start("opcua/recovery.mjs", [scenario, _server.Endpoints[0].ToString(), .. security]);

    private async Task StartAsync(string url, int number = 0)
    {
        var options = new OpcUaServerOptions
        {
            Endpoints = { url },
            ApplicationUri = "urn:fastport:interop",
            SecurityPolicies = [.. Enum.GetValues<OpcUaSecurityPolicy>()],
            ValidateUserCertificate = (certificate, _) =>
            {
                _user = X509CertificateLoader.LoadCertificate(certificate.RawData);
                return new(true);
            },
        };
        options.Certificates.Directory = _folder;
        options.Certificates.UnsafeTrustAll = true;
        _server = new OpcUaServer(options);
        _server.AddressSpace.AddNamespace("urn:fastport:test");
        _number = _server.AddressSpace.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1000), "Number", number);
        _server.AddressSpace.AddAnalogVariable(AddressSpace.ObjectsFolder, new NodeId(2, 5), "Analog", 0.0, 0, 200, writable: true);
        await _server.StartAsync();
    }

    private sealed record Seen(bool Same, double[] Values);
}
