using FastPort.Framing;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// A routing id that is in use, apart from the connection underneath: a session that takes the id over takes this object with it, so
/// whoever keeps it finds the present session. Once nobody has the id the object is done with, and the next one who takes it gets another.
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

    /// <summary>The field <c>from</c> of what the server itself publishes.</summary>
    public static byte[] ServerFromField { get; } = EncodeFrom("$server"u8);

    /// <summary>The identity of a session; null where it has no routing id.</summary>
    public static RoutingIdentity? Of(Session session) => (RoutingIdentity?)session.Identity;

    public string Id { get; }

    public byte[] Utf8 { get; }

    /// <summary>The field <c>from</c> of what a session with this id relays or publishes, encoded once.</summary>
    public byte[] FromField { get; }

    /// <summary>The session that can be reached; null before its Welcome is written and after its end. Read by any thread.</summary>
    public Session? Session
    {
        get => Volatile.Read(ref _session);
        set => Volatile.Write(ref _session, value);
    }

    public Lock Telling { get; } = new();

    /// <summary>The session that has the id, perhaps not welcomed yet; guarded by the registry.</summary>
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
