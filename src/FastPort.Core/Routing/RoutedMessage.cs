using System.Buffers;
using System.Text;
using FastPort.Routing;

namespace FastPort;

/// <summary>
/// A message that another peer relayed or published, while its handler runs: on the session's loop with the message in the receive ring,
/// or, if earlier requests were waiting for their queued handlers, on the queue's worker after them, with a copy. Valid until the handler
/// returns.
/// </summary>
public readonly ref struct RoutedMessage
{
    private readonly Session? _session;

    /// <summary>
    /// Creates a message without a session, for a substitute of <see cref="IFastPortClient"/> that calls a handler.
    /// </summary>
    /// <param name="address">The topic of a published message, or the routing id of a relayed one.</param>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body.</param>
    /// <param name="from">The sender's routing id. Defaults to none.</param>
    public RoutedMessage(string address, ushort type, ReadOnlyMemory<byte> body, string from = "")
    {
        AddressUtf8 = new(Encoding.UTF8.GetBytes(address));
        Type = type;
        Body = new(body);
        FromUtf8 = new(Encoding.UTF8.GetBytes(from));
    }

    internal RoutedMessage(Session session, in RoutedEnvelope envelope)
    {
        _session = session;
        AddressUtf8 = envelope.Address;
        Type = envelope.Type;
        Body = envelope.Body;
        FromUtf8 = envelope.From;
    }

    /// <summary>The session that the message arrived on.</summary>
    /// <exception cref="InvalidOperationException">The message was created without one.</exception>
    public Session Session => _session ?? throw new InvalidOperationException("The message was created without a session.");

    /// <summary>The sending application's message type.</summary>
    public ushort Type { get; }

    /// <summary>The body. Valid until the handler returns.</summary>
    public ReadOnlySequence<byte> Body { get; }

    /// <summary>
    /// The sender's routing id as the server knows it; empty if the sender has none, <c>$server</c> for messages that the server's program
    /// published. Decoded at each call.
    /// </summary>
    public string From => Encoding.UTF8.GetString(FromUtf8);

    /// <summary><see cref="From"/> in UTF-8, where the message is. Valid until the handler returns.</summary>
    public ReadOnlySequence<byte> FromUtf8 { get; }

    /// <summary>
    /// The topic of a published message, or this peer's routing id for a relayed one. Decoded at each call.
    /// </summary>
    public string Address => Encoding.UTF8.GetString(AddressUtf8);

    /// <summary><see cref="Address"/> in UTF-8, where the message is. Valid until the handler returns.</summary>
    public ReadOnlySequence<byte> AddressUtf8 { get; }
}

/// <summary>
/// Handles a relayed or published message on the session's loop, or on its queue's worker if earlier requests were waiting there. Must not
/// block. Called one at a time per session.
/// </summary>
/// <param name="message">The message; valid until the handler returns.</param>
public delegate void RoutedHandler(scoped in RoutedMessage message);
