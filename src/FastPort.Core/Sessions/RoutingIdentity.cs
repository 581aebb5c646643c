using FastPort.Framing;

namespace FastPort.Sessions;

/// <summary>
/// A routing id that is in use, apart from the connection underneath: a session that takes the id over takes this object with it, so
/// whoever keeps it finds the present session. Once nobody has the id the object is done with, and the next one who takes it gets another.
/// </summary>
internal sealed class RoutingIdentity
{
    /// <summary>Begins the ids that no peer may have.</summary>
    public const char ReservedMark = '$';

    private Session? _session;

    public RoutingIdentity(string id, byte[] utf8)
    {
        Id = id;
        Utf8 = utf8;
        FromField = EncodeFrom(utf8);
    }

    /// <summary>The field <c>from</c> of what the server itself publishes.</summary>
    public static byte[] ServerFromField { get; } = EncodeFrom("$server"u8);

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

    /// <summary>
    /// Held while it is told who lost and who took the id, so that it is told in turn. The one lock under which an embedder's code is
    /// called.
    /// </summary>
    public Lock Telling { get; } = new();

    /// <summary>The session that has the id, perhaps not welcomed yet; guarded by the registry.</summary>
    public Session? Owner { get; set; }

    private static byte[] EncodeFrom(ReadOnlySpan<byte> utf8)
    {
        byte[] field = new byte[ProtoBody.BytesFieldSize(utf8.Length)];
        ProtoBody.WriteField(field, 4, utf8);
        return field;
    }
}
