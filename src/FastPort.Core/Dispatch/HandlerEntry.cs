using System.Buffers;
using FastPort.Sessions;
using FastPort.Telemetry;

namespace FastPort.Dispatch;

/// <summary>Handles a message on the session's loop, or in its turn behind queued ones that wait; must not block or wait.</summary>
/// <param name="request">The message; not to be kept.</param>
public delegate void InlineHandler(ref InlineRequest request);

/// <summary>Handles a message off the loop, in arrival order per session.</summary>
/// <param name="context">The message, valid until the returned task ends.</param>
public delegate ValueTask QueuedHandler(RequestContext context);

/// <summary>Reads the topic or target of a message for the authorizer; false where the body has none that a handler would accept.</summary>
internal delegate bool AddressReader(in ReadOnlySequence<byte> body, ref AuthorizationRequest request);

/// <summary>What is registered for one message type: exactly one of the two delegates.</summary>
internal sealed class HandlerEntry(ushort type, string name, InlineHandler? inline, QueuedHandler? queued)
{
    public ushort Type { get; } = type;

    /// <summary>Name for logs and reports: the message's name, or the type in hexadecimal.</summary>
    public string Name { get; } = name;

    public InlineHandler? Inline { get; } = inline;

    public QueuedHandler? Queued { get; } = queued;

    /// <summary>
    /// Whether an inline handler runs on the session's loop and nowhere else: with earlier requests waiting the session is read no further
    /// meanwhile. For handlers that may postpone, or whose messages to others would lose their order if they were sent now from one thread
    /// and now from another.
    /// </summary>
    public bool StaysOnLoop { get; init; }

    /// <summary>Finds what a message is addressed to; null where messages of this type are addressed to nothing.</summary>
    public AddressReader? ReadAddress { get; init; }

    /// <summary>Where its latencies are recorded; attached once at the start, null where nobody measures.</summary>
    public LatencySeries? Series { get; set; }
}
