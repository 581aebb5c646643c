using FastPort.OpcUa;
using FastPort.OpcUa.Server;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>
/// Our server with the nodes of samples/OpcUaServer, all policies and one user, for scenarios that need only its address: the program
/// that <see cref="Variable"/> names, where it names one, otherwise a server in this process.
/// </summary>
internal sealed class PlantServer : IAsyncDisposable
{
    /// <summary>The environment variable that names the program: samples/OpcUaServer, published.</summary>
    public const string Variable = "FASTPORT_TEST_OPCUA_SERVER";

    public const string ApplicationUri = "urn:fastport:interop";

    private const string AnyPort = "opc.tcp://127.0.0.1:0";

    private readonly string _folder;
    private readonly IAsyncDisposable _server;

    private PlantServer(string folder, IAsyncDisposable server, string url)
    {
        _folder = folder;
        _server = server;
        Url = url;
    }

    public string Url { get; }

    public static async Task<PlantServer> StartAsync()
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        if (Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } program)
        {
            HostedProgram process = await HostedProgram.StartAsync(program, Arguments(folder));
            return new PlantServer(folder, process, process.Endpoint);
        }

        var options = new OpcUaServerOptions
        {
            Endpoints = { AnyPort },
            ApplicationUri = ApplicationUri,
            SecurityPolicies = [.. Enum.GetValues<OpcUaSecurityPolicy>()],
        };
        options.ValidateUser = static (user, password, _) => new(user == "anna" && password == "secret");
        options.Certificates.Directory = folder;
        options.Certificates.UnsafeTrustAll = true;
        var server = new OpcUaServer(options);
        _ = new Plant(server.AddressSpace);
        await server.StartAsync();
        return new PlantServer(folder, server, server.Endpoints[0].ToString());
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    private static string[] Arguments(string folder) =>
    [
        $"--OpcUaServer:Endpoints:0={AnyPort}",
        $"--OpcUaServer:ApplicationUri={ApplicationUri}",
        .. Enum.GetNames<OpcUaSecurityPolicy>().Select(static (policy, i) => $"--OpcUaServer:SecurityPolicies:{i}={policy}"),
        $"--OpcUaServer:Certificates:Directory={folder}",
        "--OpcUaServer:Certificates:UnsafeTrustAll=true",
        "--Users:anna=secret",
    ];
}
