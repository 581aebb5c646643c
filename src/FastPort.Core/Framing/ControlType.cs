namespace FastPort.Framing;

/// <summary>The message types that the framework handles. All other types belong to registered handlers.</summary>
public static class ControlType
{
    /// <summary>Identifies a session; the reply is Welcome.</summary>
    public const ushort Hello = 0x0001;

    /// <summary>Heartbeat; request and reply are empty.</summary>
    public const ushort Ping = 0x0002;

    /// <summary>One-way: the sender sends no new requests afterwards.</summary>
    public const ushort Goodbye = 0x0003;

    /// <summary>Passes a body to the session with a routing id.</summary>
    public const ushort Relay = 0x0004;

    /// <summary>Subscribes to the topics with a prefix.</summary>
    public const ushort Subscribe = 0x0005;

    /// <summary>Ends a Subscribe.</summary>
    public const ushort Unsubscribe = 0x0006;

    /// <summary>Passes a body to every session that is subscribed to a prefix of the topic.</summary>
    public const ushort Publish = 0x0007;

    /// <summary>Lists sessions with routing ids.</summary>
    public const ushort Peers = 0x0008;

    /// <summary>One-way: cancels a request.</summary>
    public const ushort Cancel = 0x0009;

    /// <summary>One-way: allows the peer to send items of a stream, or announces the request that opens one.</summary>
    public const ushort Credit = 0x000A;

    /// <summary>The last type reserved for the framework.</summary>
    internal const ushort LastReserved = 0x00FF;

    /// <summary>The first type an embedding application may use.</summary>
    public const ushort FirstApplication = 0x1000;

    /// <summary>The name of a type that the framework's handlers serve, for logs and reports; null for other types.</summary>
    internal static string? NameOf(ushort type) => type switch
    {
        Relay => nameof(Relay),
        Subscribe => nameof(Subscribe),
        Unsubscribe => nameof(Unsubscribe),
        Publish => nameof(Publish),
        Peers => nameof(Peers),
        _ => null,
    };
}
