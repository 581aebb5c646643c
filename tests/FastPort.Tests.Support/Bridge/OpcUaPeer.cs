using FastPort.OpcUa;
using FastPort.OpcUa.Server;

namespace FastPort.Tests.Support;

/// <summary>An OPC UA server in this process. It can be stopped, and started again with the same address and other nodes.</summary>
internal sealed class OpcUaPeer(Action<AddressSpace> build, Action<OpcUaServerOptions>? configure = null) : IAsyncDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;
    private readonly HeldPort _port = new();
    private OpcUaServer? _server;

    public string Url => $"opc.tcp://127.0.0.1:{_port.Number}";

    public async Task StartAsync()
    {
        var options = new OpcUaServerOptions { Endpoints = { Url } };
        options.Certificates.Directory = Path.Combine(_folder, "server");
        options.Certificates.UnsafeTrustAll = true;
        options.SecurityPolicies = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];
        configure?.Invoke(options);
        _server = new OpcUaServer(options);
        build(_server.AddressSpace);
        await _server.StartAsync();
    }

    public async Task StopAsync()
    {
        if (_server is not null)
        {
            await _server.DisposeAsync();
            _server = null;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        _port.Dispose();
        Directory.Delete(_folder, recursive: true);
    }
}
