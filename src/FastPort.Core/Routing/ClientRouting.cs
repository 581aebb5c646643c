using System.Buffers;
using System.Runtime.ExceptionServices;
using System.Text;
using FastPort.Dispatch;
using FastPort.Framing;

namespace FastPort.Routing;

/// <summary>
/// What a client does with messages of other peers: relayed messages have a handler by type, published ones receivers by prefix. They
/// outlive sessions. <see cref="_gate"/> serializes changes; handlers and receivers are looked up and called without it.
/// </summary>
internal sealed class ClientRouting
{
    private readonly Lock _gate = new();

    // The subscriptions with receivers, and by prefix also those that are still being ended.
    private readonly PrefixTrie<TopicSubscription> _topics = new();
    private readonly Dictionary<string, TopicSubscription> _byPrefix = new(StringComparer.Ordinal);
    private (bool IsOver, string? Why) _end;
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
                return [.. _byPrefix.Values.Where(static topic => topic.Receivers.Length != 0).Select(static topic => topic.Prefix)];
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

    /// <summary>
    /// Adds a receiver of a prefix. The caller calls <see cref="Release"/> when it is removed and the subscription needs no more care.
    /// </summary>
    /// <returns>The subscription; null if the receiver is a handler and the prefix has one.</returns>
    public TopicSubscription? Add(string prefix, ITopicReceiver receiver)
    {
        lock (_gate)
        {
            if (!_byPrefix.TryGetValue(prefix, out TopicSubscription? topic))
            {
                topic = new TopicSubscription(prefix);
                _byPrefix.Add(prefix, topic);
            }
            else if (receiver is HandlerReceiver && topic.Receivers.Any(static other => other is HandlerReceiver))
            {
                return null;
            }

            topic.Users++;
            topic.Receivers = [.. topic.Receivers, receiver];
            _topics.Set(Encoding.UTF8.GetBytes(prefix), topic);
            if (_end.IsOver)
            {
                receiver.End(_end.Why);
            }

            return topic;
        }
    }

    /// <summary>Removes a receiver; does nothing if it was removed.</summary>
    public void Remove(TopicSubscription topic, ITopicReceiver receiver)
    {
        lock (_gate)
        {
            topic.Receivers = [.. topic.Receivers.Where(other => other != receiver)];
            if (topic.Receivers.Length == 0)
            {
                _topics.Remove(Encoding.UTF8.GetBytes(topic.Prefix));
            }
        }
    }

    /// <summary>Removes the handler of a prefix. Returns the subscription that had it; null if there is none.</summary>
    public TopicSubscription? RemoveHandler(string prefix)
    {
        lock (_gate)
        {
            if (_byPrefix.TryGetValue(prefix, out TopicSubscription? topic)
                && topic.Receivers.FirstOrDefault(static receiver => receiver is HandlerReceiver) is { } handler)
            {
                Remove(topic, handler);
                return topic;
            }

            return null;
        }
    }

    /// <summary>The caller no longer uses the subscription, whose receiver it has removed.</summary>
    public void Release(TopicSubscription topic)
    {
        lock (_gate)
        {
            if (--topic.Users == 0)
            {
                _byPrefix.Remove(topic.Prefix);
            }
        }
    }

    /// <summary>The client has ended, and with it all receivers, also those that are added later. The first end stays.</summary>
    /// <param name="why">Why the client gave up; null if the program closed it.</param>
    public void End(string? why)
    {
        lock (_gate)
        {
            if (_end.IsOver)
            {
                return;
            }

            _end = (true, why);
            foreach (ITopicReceiver receiver in _byPrefix.Values.SelectMany(static topic => topic.Receivers))
            {
                receiver.End(why);
            }
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

        // One frame serves all receivers of all matching prefixes. An exception of one must not keep it from the others.
        ExceptionDispatchInfo? thrown = null;
        var message = new RoutedMessage(request.Session, publication);
        ReadOnlySpan<byte> topic = publication.Address.IsSingleSegment ? publication.Address.FirstSpan : publication.Address.ToArray();
        PrefixTrie<TopicSubscription>.Matches matches = _topics.Match(topic);
        while (matches.MoveNext())
        {
            foreach (ITopicReceiver receiver in matches.Current.Receivers)
            {
                try
                {
                    receiver.Receive(in message);
                }
                catch (Exception e)
                {
                    thrown ??= ExceptionDispatchInfo.Capture(e);
                }

                NoContext.Restore();
            }
        }

        thrown?.Throw();
    }
}
