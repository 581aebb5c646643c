using System.Net;

namespace FastPort.Comparisons.Hostile;

/// <summary>What is attacked, and the addresses that attackers come from, one after the other. Thread-safe.</summary>
internal sealed class AttackTarget(HostilePlan plan)
{
    private readonly IPAddress[] _sources =
    [
        .. Enumerable.Range(HostileAddresses.First, HostileAddresses.Count)
            .Select(last => IPAddress.Parse(HostileAddresses.Of(plan.Network, last))),
    ];

    private uint _next;

    public HostilePlan Plan => plan;

    public IPEndPoint Tcp { get; } = plan.Tcp();

    public IPEndPoint Tls { get; } = plan.Tls();

    public IPEndPoint Ws { get; } = plan.Ws();

    public IPEndPoint Opc { get; } = plan.Opc();

    /// <summary>The address whose PROXY headers are read.</summary>
    public IPAddress Proxy { get; } = IPAddress.Parse(HostileAddresses.Of(plan.Network, HostileAddresses.Proxy));

    /// <summary>The next attacker's address.</summary>
    public IPAddress NextSource() => _sources[Interlocked.Increment(ref _next) % _sources.Length];

    /// <summary>A connection to the plain endpoint.</summary>
    public Task<HostilePeer> ConnectAsync(CancellationToken ending) => HostilePeer.ConnectAsync(Tcp, NextSource(), ending);

    /// <summary>A connection to the encrypted endpoint, on which nothing was said yet.</summary>
    public Task<HostilePeer> ConnectTlsAsync(CancellationToken ending) => HostilePeer.ConnectAsync(Tls, NextSource(), ending);

    /// <summary>A connection to the WebSocket endpoint, on which nothing was said yet.</summary>
    public Task<HostilePeer> ConnectWebSocketAsync(CancellationToken ending) => HostilePeer.ConnectAsync(Ws, NextSource(), ending);

    /// <summary>A session of the user who attacks.</summary>
    public async Task<HostilePeer> LogInAsync(CancellationToken ending, int receiveBuffer = 0)
    {
        HostilePeer peer = await HostilePeer.ConnectAsync(Tcp, NextSource(), ending, receiveBuffer);
        try
        {
            await peer.HelloAsync("", plan.GuestToken, ending);
            return peer;
        }
        catch
        {
            peer.Dispose();
            throw;
        }
    }
}
