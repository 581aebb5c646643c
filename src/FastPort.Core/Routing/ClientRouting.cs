using System.Buffers;
using System.Runtime.ExceptionServices;
using System.Text;
using FastPort.Dispatch;
using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>
/// What a client does with the messages of other peers: handlers of relayed messages by type, of published ones by prefix. They outlive
/// sessions. Changes exclude each other by <see cref="_gate"/>; messages are handed over without it.
/// </summary>
internal sealed class ClientRouting
{
    private readonly Lock _gate = new();
    private readonly PrefixTrie<RoutedHandler> _byPrefix = new();
    private readonly HashSet<string> _prefixes = new(StringComparer.Ordinal);
    private volatile Dictionary<uint, RoutedHandler> _byType = [];

    public ClientRouting()
    {
        Handlers.MapFramework(new HandlerEntry(ControlType.Relay, nameof(ControlType.Relay), OnRelay, null));
        Handlers.MapFramework(new HandlerEntry(ControlType.Publish, nameof(ControlType.Publish), OnPublish, null));
    }

    /// <summary>The handlers of the two types.</summary>
    public MessageHandlers Handlers { get; } = new();

    /// <summary>The prefixes that the server knows or shall know of.</summary>
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

    /// <summary>False where the type has a handler.</summary>
    public bool TryAdd(uint type, RoutedHandler handler)
    {
        lock (_gate)
        {
            var next = new Dictionary<uint, RoutedHandler>(_byType);
            bool added = next.TryAdd(type, handler);
            _byType = next;
            return added;
        }
    }

    /// <summary>False where the prefix has a handler.</summary>
    public bool TryAdd(string prefix, RoutedHandler handler)
    {
        lock (_gate)
        {
            bool added = _prefixes.Add(prefix);
            if (added)
            {
                _byPrefix.Set(Encoding.UTF8.GetBytes(prefix), handler);
            }

            return added;
        }
    }

    /// <summary>Takes the handler of a prefix away, which no other gets before <see cref="Forget"/>. False where it has none.</summary>
    public bool TrySilence(string prefix)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(prefix);
        lock (_gate)
        {
            bool found = _byPrefix.Find(utf8) is not null;
            _byPrefix.Remove(utf8);
            return found;
        }
    }

    public void Forget(string prefix)
    {
        lock (_gate)
        {
            _prefixes.Remove(prefix);
            _byPrefix.Remove(Encoding.UTF8.GetBytes(prefix));
        }
    }

    private void OnRelay(ref InlineRequest request)
    {
        if (!RoutedEnvelope.TryRead(request.Body, out RoutedEnvelope relay))
        {
            request.Fail(ErrorCode.MalformedBody, "The body is no Relay message.");
        }
        else if (_byType.TryGetValue(relay.Type, out RoutedHandler? handler))
        {
            handler(new RoutedMessage(request.Session, relay));
        }
        else
        {
            request.Fail(ErrorCode.UnknownType, $"Relayed messages of type {relay.Type} have no handler here.");
        }
    }

    private void OnPublish(ref InlineRequest request)
    {
        if (!RoutedEnvelope.TryRead(request.Body, out RoutedEnvelope publication))
        {
            request.Fail(ErrorCode.MalformedBody, "The body is no Publication message.");
            return;
        }

        // One frame serves all prefixes that match, and a handler that throws must not keep it from the others.
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
        }

        thrown?.Throw();
    }
}
