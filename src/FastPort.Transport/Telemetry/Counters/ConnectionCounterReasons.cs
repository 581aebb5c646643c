namespace FastPort.Telemetry;

/// <summary>Why a connection was rejected.</summary>
public enum ConnectionRejection
{
    /// <summary>The limit of all connections was reached.</summary>
    ConnectionLimit,

    /// <summary>The limit of connections of one address was reached.</summary>
    AddressLimit,

    /// <summary>The server was stopping.</summary>
    ShuttingDown,

    /// <summary>A stage before the protocol refused it.</summary>
    Refused,

    /// <summary>The limit of connections that have not sent Hello was reached.</summary>
    UnidentifiedLimit,

    /// <summary>The limit of connections in stages before the protocol was reached.</summary>
    StageLimit,

    /// <summary>The connection's stages did not end in time.</summary>
    StageTimeout,

    /// <summary>A stage failed.</summary>
    StageFailed,

    /// <summary>The TLS handshake failed.</summary>
    TlsFailed,

    /// <summary>A rate of connections was exceeded.</summary>
    RateLimit,

    /// <summary>The address is banned.</summary>
    Banned,

    /// <summary>The request of a WebSocket was refused.</summary>
    WebSocketRefused,
}

/// <summary>The scope of a rate.</summary>
public enum RateScope
{
    /// <summary>An IP address, for IPv6 a /64 network.</summary>
    Address,

    /// <summary>An identity.</summary>
    Identity,

    /// <summary>All sessions together.</summary>
    Total,
}

/// <summary>What a rate limits.</summary>
public enum RateResource
{
    /// <summary>Connections; for identities, Hellos.</summary>
    Connections,

    /// <summary>Received messages.</summary>
    Messages,

    /// <summary>Received bytes.</summary>
    Bytes,

    /// <summary>Time of the event loops.</summary>
    LoopTime,
}
