using FastPort.OpcUa;

namespace OpcUaPeer.Loads;

/// <summary>What a request does.</summary>
internal enum Operation
{
    /// <summary>Reads tags.</summary>
    Read,

    /// <summary>Writes tags of type Int32.</summary>
    Write,

    /// <summary>Calls GetPackage.</summary>
    Package,
}

/// <summary>What to ask and whom.</summary>
internal sealed record LoadSettings
{
    public required string Endpoint { get; init; }

    /// <summary>Directory of the client's certificates; null for no security. Defaults to null.</summary>
    public string? Pki { get; init; }

    public required Operation Operation { get; init; }

    /// <summary>Tags of a request, or bytes of the package.</summary>
    public required int Count { get; init; }

    /// <summary>Clients, each with a session and a connection of its own. Defaults to 1.</summary>
    public int Clients { get; init; } = 1;

    /// <summary>Requests of each client that are under way at a time.</summary>
    public required int Outstanding { get; init; }

    public int Workers => Clients * Outstanding;

    /// <summary>Whether tags are read by the ids that RegisterNodes gives for them. Defaults to false.</summary>
    public bool RegistersNodes { get; init; }

    /// <summary>The greatest age of a value when it is asked for.</summary>
    public required TimeSpan MaxAge { get; init; }

    /// <summary>Security policy; with SignAndEncrypt. Defaults to None.</summary>
    public OpcUaSecurityPolicy Policy { get; init; }

    /// <summary>How long the loop looks for work before it sleeps; null for the engine's own choice. Defaults to null.</summary>
    public int? SpinMicroseconds { get; init; }

    /// <summary>The process whose CPU time and memory are reported as the server's.</summary>
    public required int ServerId { get; init; }

    /// <summary>The process of the bridge that the endpoint belongs to; null for an OPC UA server.</summary>
    public int? BridgeId { get; init; }

    /// <summary>How old the bridge's values may be; zero for the device's.</summary>
    public TimeSpan BridgeMaxAge { get; init; }
}
