using System.Buffers;
using System.Text;
using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// A message that another peer relayed or published, while its handler runs on the session's loop. It lies in the receive ring; not to be
/// kept.
/// </summary>
public readonly ref struct RoutedMessage
{
    internal RoutedMessage(Session session, in RoutedEnvelope envelope)
    {
        Session = session;
        AddressUtf8 = envelope.Address;
        Type = envelope.Type;
        Body = envelope.Body;
        FromUtf8 = envelope.From;
    }

    /// <summary>The session it came over.</summary>
    public Session Session { get; }

    /// <summary>The sender's own type of the message.</summary>
    public uint Type { get; }

    /// <summary>The body. Valid until the handler returns.</summary>
    public ReadOnlySequence<byte> Body { get; }

    /// <summary>
    /// The sender's routing id as the server knows it; empty where the sender has none, or is the server itself. Decoded at each call.
    /// </summary>
    public string From => Encoding.UTF8.GetString(FromUtf8);

    /// <summary><see cref="From"/> as it lies in the message.</summary>
    public ReadOnlySequence<byte> FromUtf8 { get; }

    /// <summary>
    /// What the sender addressed: the topic of a published message, the own routing id for a relayed one. Decoded at each call.
    /// </summary>
    public string Address => Encoding.UTF8.GetString(AddressUtf8);

    /// <summary><see cref="Address"/> as it lies in the message.</summary>
    public ReadOnlySequence<byte> AddressUtf8 { get; }
}

/// <summary>
/// Handles a relayed or published message on the session's loop; must not block or wait. Called one at a time per session.
/// </summary>
/// <param name="message">The message; not to be kept.</param>
public delegate void RoutedHandler(scoped in RoutedMessage message);
