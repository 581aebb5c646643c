using System.Net;
using System.Text.Json;

namespace FastPort.Comparisons.Hostile;

/// <summary>
/// What the processes of a hostile hour have to know, as a file: where the servers are, who comes from where, and with what.
/// </summary>
internal sealed record HostilePlan
{
    /// <summary>Path of the WebSocket endpoint.</summary>
    public const string WebSocketPath = "/game";

    /// <summary>The servers' address.</summary>
    public required string Host { get; init; }

    /// <summary>Port of the plain endpoint.</summary>
    public required int TcpPort { get; init; }

    /// <summary>Port of the encrypted endpoint.</summary>
    public required int TlsPort { get; init; }

    /// <summary>Port of the WebSocket endpoint.</summary>
    public required int WsPort { get; init; }

    /// <summary>Port of the OPC UA simulation.</summary>
    public required int OpcPort { get; init; }

    /// <summary>First three numbers of the addresses that attackers come from, with a dot behind them.</summary>
    public required string Network { get; init; }

    /// <summary>Whether the network was made for this, so that packets with forged sources may be sent.</summary>
    public required bool IsOwnNetwork { get; init; }

    /// <summary>The authority that has signed the server's certificate, as PEM.</summary>
    public required string AuthorityFile { get; init; }

    /// <summary>Idle connections that are held open, if the server lets them.</summary>
    public required int IdleConnections { get; init; }

    /// <summary>Texts of which an attacker's name contains one; none for all.</summary>
    public required IReadOnlyList<string> Only { get; init; }

    /// <summary>Token of the good clients.</summary>
    public required string GoodToken { get; init; }

    /// <summary>Token of a user who attacks.</summary>
    public required string GuestToken { get; init; }

    /// <summary>Tokens that were good once, or for others.</summary>
    public required IReadOnlyList<string> ReplayedTokens { get; init; }

    /// <summary>Tokens that nobody has signed who may.</summary>
    public required IReadOnlyList<string> ForgedTokens { get; init; }

    /// <summary>A process that nobody has ended has ended by then.</summary>
    public required double LimitSeconds { get; init; }

    public IPEndPoint Tcp() => new(IPAddress.Parse(Host), TcpPort);

    public IPEndPoint Tls() => new(IPAddress.Parse(Host), TlsPort);

    public IPEndPoint Ws() => new(IPAddress.Parse(Host), WsPort);

    public IPEndPoint Opc() => new(IPAddress.Parse(Host), OpcPort);

    public void Write(string file) => File.WriteAllText(file, JsonSerializer.Serialize(this));

    /// <exception cref="ComparisonException">It is no plan.</exception>
    public static HostilePlan Read(string file) => JsonSerializer.Deserialize<HostilePlan>(File.ReadAllText(file))
        ?? throw new ComparisonException($"{file} holds no plan.");
}
