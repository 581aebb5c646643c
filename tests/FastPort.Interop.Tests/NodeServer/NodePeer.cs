using FastPort.Framing;
using FastPort.Interop.Tests.Peers;

namespace FastPort.Interop.Tests.NodeServer;

/// <summary>The peer as a server, and clients of ours for it.</summary>
internal sealed class NodePeer : IDisposable
{
    /// <summary>The peer's own message types; server.mjs has the same.</summary>
    public const ushort PushMe = 0x1000, Pushed = 0x1001, Fail = 0x1002, Ignore = 0x1003, Mirror = 0x1004, Exchange = 0x1005;

    private readonly NodeProcess _process;
    private readonly int _port;

    private NodePeer(NodeProcess process, int port)
    {
        _process = process;
        _port = port;
    }

    public static async Task<NodePeer> StartAsync(object? options = null)
    {
        NodeProcess process = NodeProcess.Start("server.mjs", NodeProcess.ToJson(options ?? new { }));
        try
        {
            return new NodePeer(process, (await process.ReadLineAsync<Listening>()).Port);
        }
        catch
        {
            process.Dispose();
            throw;
        }
    }

    public async Task<FastPortClient> ConnectAsync(Action<FastPortClientOptions>? configure = null, MessageHandlers? handlers = null)
    {
        FastPortClient client = CreateClient(configure, handlers);
        await client.ConnectAsync();
        return client;
    }

    public FastPortClient CreateClient(Action<FastPortClientOptions>? configure = null, MessageHandlers? handlers = null)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = $"tcp://127.0.0.1:{_port}",
            ConnectTimeout = NodeProcess.Limit,
            RequestTimeout = NodeProcess.Limit,
        };
        configure?.Invoke(options);
        return new FastPortClient(options, handlers);
    }

    /// <summary>Ends the peer and returns what it saw.</summary>
    public Task<PeerReport> FinishAsync() => _process.FinishAsync<PeerReport>();

    public void Dispose() => _process.Dispose();

    private sealed record Listening(int Port);
}

/// <summary>What the peer saw as a server.</summary>
internal sealed record PeerReport(
    int Connections, PeerHello[] Hellos, PeerTiming[] Echoes, uint[] Cancels, PeerGoodbye[] Goodbyes, PeerMirror[] Mirrored,
    PeerRelay[] Relays, string[] Topics,
    PeersQueryMessage[] Queries, PeerEnd[] Ends);

/// <summary>A Hello: its frame, its body in hexadecimal, and the body decoded.</summary>
internal sealed record PeerHello(PeerFrame Frame, string Body, HelloMessage Hello);

internal sealed record HelloMessage(string RoutingId, string Token, string ClientName, uint Extensions = 11);

/// <summary>
/// The timing block the peer wrote into the reply to an Echo, and the request's trace block in hexadecimal and its deadline block.
/// </summary>
internal sealed record PeerTiming(uint Correlation, string? Received, string? Sent, string? Trace, uint? Deadline)
{
    public FrameTiming Block => new(ulong.Parse(Received!), ulong.Parse(Sent!));
}

internal sealed record PeerGoodbye(uint Code, string Reason);

/// <summary>The client's reply to a request of the peer's, and whether its body was that of the request.</summary>
internal sealed record PeerMirror(PeerFrame Frame, bool Equal);

/// <summary>A Relay; its body in hexadecimal.</summary>
internal sealed record PeerRelay(string To, uint Type, string Body, string From);

internal sealed record PeersQueryMessage(string Prefix, uint Limit, string After);
