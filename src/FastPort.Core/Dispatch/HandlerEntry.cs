using System.Buffers;
using FastPort.Dispatch.Streams;
using FastPort.Telemetry;

namespace FastPort.Dispatch;

/// <summary>Reads the topic or target of a message for the authorizer; false if the body has none that the handler would accept.</summary>
internal delegate bool AddressReader(in ReadOnlySequence<byte> body, ref AuthorizationRequest request);

/// <summary>The handler of one message type: exactly one of the two delegates is set, or <see cref="Stream"/>.</summary>
internal class HandlerEntry(ushort type, string name, InlineHandler? inline, QueuedHandler? queued)
{
    /// <summary>A copy that records the latencies elsewhere.</summary>
    public HandlerEntry(HandlerEntry handler, LatencySeries? series)
        : this(handler.Type, handler.Name, handler.Inline, handler.Queued)
    {
        StaysOnLoop = handler.StaysOnLoop;
        BeginsOnLoop = handler.BeginsOnLoop;
        ReadAddress = handler.ReadAddress;
        Stream = handler.Stream;
        Series = series;
    }

    public ushort Type { get; } = type;

    /// <summary>Name for logs and reports: the message's name, or the type in hexadecimal.</summary>
    public string Name { get; } = name;

    public InlineHandler? Inline { get; } = inline;

    public QueuedHandler? Queued { get; } = queued;

    /// <summary>Handles calls that stream; null if calls of this type have one request and one reply.</summary>
    public StreamHandler? Stream { get; init; }

    /// <summary>
    /// Whether an inline handler runs on the session's loop only. If earlier requests of the session are waiting, reading pauses until they
    /// have started. For handlers that may postpone, and for those whose messages to other sessions would be reordered if two threads sent
    /// them.
    /// </summary>
    public bool StaysOnLoop { get; init; }

    /// <summary>Whether a queued handler does not block before its first await, so that it may begin on the session's loop.</summary>
    public bool BeginsOnLoop { get; init; }

    /// <summary>Reads the address of a message; null if messages of this type have no address.</summary>
    public AddressReader? ReadAddress { get; init; }

    /// <summary>Records the latencies; null if they are not measured.</summary>
    public LatencySeries? Series { get; }
}
