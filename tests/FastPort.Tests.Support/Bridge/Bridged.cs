using FastPort.OpcUa.Server;
using FastPort.Tags;
using FastPort.Tags.OpcUa.Sources;

namespace FastPort.Tests.Support;

/// <summary>An OPC UA server, a bridge and a client of it, over real sockets. The server can be stopped and started again.</summary>
internal sealed class Bridged : IAsyncDisposable
{
    public const string NamespaceUri = "urn:fastport:test";

    private readonly OpcUaPeer _server;
    private readonly BridgeUnderTest _bridge;

    private Bridged(OpcUaPeer server, BridgeUnderTest bridge)
    {
        _server = server;
        _bridge = bridge;
    }

    public TagClient Client => _bridge.Client;

    public OpcUaTagSource Source => _bridge.Source;

    public RecordingLog Log => _bridge.Log;

    /// <param name="build">Makes the server's nodes, each time that it starts.</param>
    /// <param name="keys">Keys of section OpcBridge; {url} is the server's address.</param>
    public static Task<Bridged> StartAsync(Action<AddressSpace> build, params (string Key, string Value)[] keys) =>
        StartAsync(build, static url => url, mustLoad: true, keys);

    /// <param name="build">Makes the server's nodes, each time that it starts.</param>
    /// <param name="route">The address of what stands between the bridge and the server at an address.</param>
    /// <param name="mustLoad">Whether the server answers from the beginning.</param>
    /// <param name="keys">Keys of section OpcBridge; {url} is the address that the bridge is to use.</param>
    public static async Task<Bridged> StartAsync(
        Action<AddressSpace> build, Func<string, string> route, bool mustLoad, params (string Key, string Value)[] keys)
    {
        var server = new OpcUaPeer(build);
        await server.StartAsync();
        string url = route(server.Url);
        return new Bridged(server, await BridgeUnderTest.StartAsync(
            mustLoad, [.. keys.Select(one => (one.Key, one.Value.Replace("{url}", url, StringComparison.Ordinal)))]));
    }

    public Task StartServerAsync() => _server.StartAsync();

    public Task StopServerAsync() => _server.StopAsync();

    public async ValueTask DisposeAsync()
    {
        await _bridge.DisposeAsync();
        await _server.DisposeAsync();
    }
}
