using FastPort.Framing;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// A routing id in use, independent of the session that has it. A take-over keeps this object, so a cached reference finds the current
/// session. When no session has the id any more, the object is no longer used; the next session with that id gets a new one.
/// </summary>
internal sealed class RoutingIdentity : IClaimedId
{
    private readonly IdentityRegistry _registry;
    private Session? _session;

    public RoutingIdentity(IdentityRegistry registry, string id, byte[] utf8)
    {
        _registry = registry;
        Id = id;
        Utf8 = utf8;
        FromField = EncodeFrom(utf8);
    }

    /// <summary>The encoded field <c>from</c> of messages that the server itself publishes.</summary>
    public static byte[] ServerFromField { get; } = EncodeFrom("$server"u8);

    /// <summary>The identity of a session; null if it has no routing id.</summary>
    public static RoutingIdentity? Of(Session session) => (RoutingIdentity?)session.Identity;

    public string Id { get; }

    public byte[] Utf8 { get; }

    /// <summary>The encoded field <c>from</c> of messages that a session with this id relays or publishes.</summary>
    public byte[] FromField { get; }

    /// <summary>The reachable session; null before its Welcome is written and after its end. Any thread.</summary>
    public Session? Session
    {
        get => Volatile.Read(ref _session);
        set => Volatile.Write(ref _session, value);
    }

    public Lock Telling { get; } = new();

    /// <summary>The session that has claimed the id, possibly not welcomed yet; guarded by the registry's lock.</summary>
    public Session? Owner { get; set; }

    public bool TryEnter(Session session, out Session? previous) => _registry.TryEnter(this, session, out previous);

    public bool Leave(Session session) => _registry.Leave(this, session);

    public void Free(Session session) => _registry.Free(this, session);

    private static byte[] EncodeFrom(ReadOnlySpan<byte> utf8)
    {
        byte[] field = new byte[ProtoBody.BytesFieldSize(utf8.Length)];
        ProtoBody.WriteField(field, 4, utf8);
        return field;
    }
}
