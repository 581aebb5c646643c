using FastPort.Dispatch;
using FastPort.Dispatch.Streams;
using FastPort.Framing;
using FastPort.Telemetry;

namespace FastPort;

/// <summary>
/// The handlers of a server or client, by message type, for the framework's own diagnostics and for the application's messages. Filled
/// before the start. From then on it is frozen, and all sessions read it without a lock.
/// </summary>
public sealed class MessageHandlers
{
    // Two levels of 256 entries: a lookup is two loads, and a table with few types stays small.
    private readonly HandlerEntry?[]?[] _pages = new HandlerEntry?[]?[256];
    private readonly List<HandlerEntry> _entries = [];
    private bool _frozen;

    /// <summary>The registered types, in order of registration.</summary>
    public IReadOnlyList<ushort> Types => _entries.ConvertAll(static e => e.Type);

    internal IReadOnlyList<HandlerEntry> Entries => _entries;

    /// <summary>Whether a queued handler may begin on the session's loop.</summary>
    internal bool AnyBeginsOnLoop { get; private set; }

    /// <summary>
    /// Registers a handler that runs on the session's loop. It must not block: all connections of that loop would wait. At most one inline
    /// handler of a session runs at a time. Requests of one session start in arrival order: if queued requests are waiting, the handler
    /// runs after them, off the loop.
    /// </summary>
    /// <param name="type">Message type, 0x0100 to 0xFFFF; application types begin at 0x1000.</param>
    /// <param name="handler">The handler; several sessions may call it at the same time.</param>
    /// <param name="name">Name for logs and reports. Defaults to the type in hexadecimal.</param>
    /// <exception cref="ArgumentException">The type is already registered or belongs to the session layer.</exception>
    /// <exception cref="InvalidOperationException">The server or client has been started.</exception>
    public MessageHandlers MapInline(ushort type, InlineHandler handler, string? name = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return Add(new HandlerEntry(type, name ?? $"0x{type:X4}", handler, null));
    }

    /// <summary>
    /// Registers a handler that runs off the loop. Requests of one session start in arrival order. At most
    /// <see cref="SessionOptions.MaxConcurrency"/> queued requests of a session run at a time.
    /// </summary>
    /// <param name="type">Message type, 0x0100 to 0xFFFF; application types begin at 0x1000.</param>
    /// <param name="handler">The handler; several sessions may call it at the same time.</param>
    /// <param name="name">Name for logs and reports. Defaults to the type in hexadecimal.</param>
    /// <param name="beginsOnLoop">
    /// Whether the handler begins on the session's loop if no earlier request waits and the session has a free place, of
    /// <see cref="SessionOptions.MaxConcurrency"/>. It saves a thread switch, which takes longer than a short handler. Like an inline
    /// handler, the handler must then not block before its first await. Defaults to false.
    /// </param>
    /// <exception cref="ArgumentException">The type is already registered or belongs to the session layer.</exception>
    /// <exception cref="InvalidOperationException">The server or client has been started.</exception>
    public MessageHandlers MapQueued(ushort type, QueuedHandler handler, string? name = null, bool beginsOnLoop = false)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return Add(new HandlerEntry(type, name ?? $"0x{type:X4}", null, handler) { BeginsOnLoop = beginsOnLoop });
    }

    /// <summary>Registers an inline handler that may postpone its request, so that it stays on the loop.</summary>
    internal MessageHandlers MapPostponing(ushort type, InlineHandler handler, string name) =>
        Add(new HandlerEntry(type, name, handler, null) { StaysOnLoop = true });

    /// <summary>Registers a handler of calls that stream. It starts on the pool as soon as a call arrives.</summary>
    internal MessageHandlers MapStream(ushort type, StreamHandler handler, string name) =>
        Add(new HandlerEntry(type, name, null, null) { Stream = handler });

    /// <summary>The registered name of a type, or the framework's name for one of its own types; null for an unknown type.</summary>
    /// <param name="type">Message type.</param>
    public string? NameOf(ushort type) => Find(type)?.Name ?? ControlType.NameOf(type);

    /// <summary>Registers a handler for one of the framework's own types.</summary>
    internal void MapFramework(HandlerEntry entry) => Enter(entry);

    internal void Freeze() => _frozen = true;

    /// <summary>A frozen copy whose handlers record their latencies there. Several servers may have the same handlers.</summary>
    internal MessageHandlers MeasuredBy(LatencyStats stats)
    {
        var measured = new MessageHandlers();
        foreach (HandlerEntry entry in _entries)
        {
            measured.Enter(new HandlerEntry(entry, stats.ForType(entry.Type)));
        }

        measured.Freeze();
        return measured;
    }

    internal HandlerEntry? Find(ushort type)
    {
        HandlerEntry?[]? page = _pages[type >> 8];
        return page?[type & 0xFF];
    }

    private MessageHandlers Add(HandlerEntry entry)
    {
        if (_frozen)
        {
            throw new InvalidOperationException($"Type 0x{entry.Type:X4} cannot be registered after the start; register it earlier.");
        }

        if (entry.Type <= ControlType.LastReserved)
        {
            throw Taken(
                entry.Type,
                $"belongs to the framework (0x0000 to 0x{ControlType.LastReserved:X4}); application "
                + $"types are 0x{ControlType.FirstApplication:X4} to 0xFFFF.");
        }

        Enter(entry);
        return this;
    }

    private void Enter(HandlerEntry entry)
    {
        HandlerEntry?[] page = _pages[entry.Type >> 8] ??= new HandlerEntry?[256];
        if (page[entry.Type & 0xFF] is { } other)
        {
            throw Taken(entry.Type, $"is already registered, as {other.Name}; a type has one handler.");
        }

        page[entry.Type & 0xFF] = entry;
        _entries.Add(entry);
        AnyBeginsOnLoop |= entry.BeginsOnLoop;
    }

    // The parameter is that of the public methods.
    private static ArgumentException Taken(ushort type, string why) => new($"Type 0x{type:X4} {why}", nameof(type));
}
