using System.Buffers;
using System.Runtime.ExceptionServices;
using System.Text;
using FastPort.Dispatch;
using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>
/// A client's handlers for messages of other peers: relayed messages by type, published ones by prefix. They outlive sessions.
/// <see cref="_gate"/> serializes changes; handlers are looked up and called without it.
/// </summary>
internal sealed class ClientRouting
{
    private readonly Lock _gate = new();
    private readonly PrefixTrie<RoutedHandler> _byPrefix = new();
    private readonly HashSet<string> _prefixes = new(StringComparer.Ordinal);

    // Given up, and not free yet.
    private readonly HashSet<string> _silenced = new(StringComparer.Ordinal);
    private volatile Dictionary<ushort, RoutedHandler> _byType = [];

    public ClientRouting()
    {
        Handlers.MapFramework(new HandlerEntry(ControlType.Relay, nameof(ControlType.Relay), OnRelay, null));
        Handlers.MapFramework(new HandlerEntry(ControlType.Publish, nameof(ControlType.Publish), OnPublish, null));
    }

    /// <summary>The handlers of Relay and Publish.</summary>
    public MessageHandlers Handlers { get; } = new();

    /// <summary>The prefixes that the client is subscribed to, or is about to subscribe to; without those being given up.</summary>
    public string[] Prefixes
    {
        get
        {
            lock (_gate)
            {
                return [.. _prefixes];
            }
        }
    }

    /// <summary>Adds the handler of a type; false if the type has one.</summary>
    public bool TryAdd(ushort type, RoutedHandler handler)
    {
        lock (_gate)
        {
            var next = new Dictionary<ushort, RoutedHandler>(_byType);
            bool added = next.TryAdd(type, handler);
            _byType = next;
            return added;
        }
    }

    /// <summary>Adds the handler of a prefix; false if the prefix has one.</summary>
    public bool TryAdd(string prefix, RoutedHandler handler)
    {
        lock (_gate)
        {
            bool added = !_silenced.Contains(prefix) && _prefixes.Add(prefix);
            if (added)
            {
                _byPrefix.Set(Encoding.UTF8.GetBytes(prefix), handler);
            }

            return added;
        }
    }

    /// <summary>Removes the handler of a prefix. The prefix accepts no other before <see cref="Forget"/>. False if it has none.</summary>
    public bool TrySilence(string prefix)
    {
        lock (_gate)
        {
            if (!_prefixes.Remove(prefix))
            {
                return false;
            }

            _silenced.Add(prefix);
            _byPrefix.Remove(Encoding.UTF8.GetBytes(prefix));
            return true;
        }
    }

    /// <summary>A silenced prefix is free again.</summary>
    public void Forget(string prefix)
    {
        lock (_gate)
        {
            _silenced.Remove(prefix);
        }
    }

    private void OnRelay(ref InlineRequest request)
    {
        if (!RoutedEnvelope.TryRead(request.Body, out RoutedEnvelope relay))
        {
            request.Fail(ErrorCode.MalformedBody, RoutedEnvelope.NotARelay);
        }
        else if (_byType.TryGetValue(relay.Type, out RoutedHandler? handler))
        {
            handler(new RoutedMessage(request.Session, relay));
        }
        else
        {
            request.Fail(ErrorCode.UnknownType, $"Relayed messages of type {relay.Type} have no handler.");
        }
    }

    private void OnPublish(ref InlineRequest request)
    {
        if (!RoutedEnvelope.TryRead(request.Body, out RoutedEnvelope publication))
        {
            request.Fail(ErrorCode.MalformedBody, RoutedEnvelope.NotAPublication);
            return;
        }

        // One frame serves all matching prefixes. An exception of one handler must not keep the frame from the others.
        ExceptionDispatchInfo? thrown = null;
        var message = new RoutedMessage(request.Session, publication);
        ReadOnlySpan<byte> topic = publication.Address.IsSingleSegment ? publication.Address.FirstSpan : publication.Address.ToArray();
        PrefixTrie<RoutedHandler>.Matches matches = _byPrefix.Match(topic);
        while (matches.MoveNext())
        {
            try
            {
                matches.Current(in message);
            }
            catch (Exception e)
            {
                thrown ??= ExceptionDispatchInfo.Capture(e);
            }

            NoContext.Restore();
        }

        thrown?.Throw();
    }
}
