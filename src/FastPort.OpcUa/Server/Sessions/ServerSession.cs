using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Server;

/// <summary>
/// A session of a client (OPC 10000-4, 5.7). It outlives its channel and can be activated on another one. The fields that change belong to
/// the loop of the channel that it is active on; <see cref="SessionManager"/> hands it from one to the next.
/// </summary>
internal sealed class ServerSession
{
    // Written last when a channel ends, so that another channel finds a session that nobody works on.
    private ServerChannel? _channel;

    public ServerSession(NodeId id, NodeId token, TimeSpan timeout, int maxContinuationPoints)
    {
        Browsing = new Browsing(maxContinuationPoints);
        Id = id;
        Token = token;
        Timeout = timeout;
        using var buffer = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteNodeId(token);
        encoder.Complete();
        EncodedToken = buffer.Written.ToArray();
    }

    public NodeId Id { get; }

    /// <summary>The secret that requests carry.</summary>
    public NodeId Token { get; }

    /// <summary>The token as it stands in requests.</summary>
    public byte[] EncodedToken { get; }

    /// <summary>How long the session lives without a request.</summary>
    public TimeSpan Timeout { get; }

    /// <summary>The channel that created the session or activated it last; null once that has ended.</summary>
    public ServerChannel? Channel
    {
        get => Volatile.Read(ref _channel);
        set => Volatile.Write(ref _channel, value);
    }

    public Browsing Browsing { get; }

    /// <summary>Its subscriptions; null until there is one.</summary>
    public SessionSubscriptions? Subscriptions { get; set; }

    public bool IsActivated { get; set; }

    /// <summary>The certificate of the client that created the session; null without security.</summary>
    public byte[]? ClientCertificate { get; set; }

    /// <summary>The user's name; null for anonymous.</summary>
    public string? User { get; set; }

    /// <summary>What the client signs to activate the session; another one after each activation.</summary>
    public byte[] Nonce { get; set; } = [];

    /// <summary>When the last request came, as a timestamp of the server's time provider.</summary>
    public long LastRequest { get; set; }
}
