using FastPort.Framing;
using FastPort.Redis.Members;
using FastPort.Redis.Relaying;
using FastPort.Redis.Wire;
using FastPort.Routing;
using Microsoft.Extensions.Logging;

namespace FastPort.Redis.Topics;

/// <summary>
/// Exchanges with the other nodes which topics are wanted, and sends publications to those that want them. Thread-safe.
/// <para>
/// A node asks another node for all of its interests when the other node joins, when it has missed batches of it, and when its own lease or
/// connection had ended. The other node then sends its changes, and everything again when batches with changes were not confirmed. So a
/// loss on either side is repaired, whichever side notices it.
/// </para>
/// </summary>
internal sealed class TopicExchange : IDisposable
{
    private readonly OwnInterests _own;
    private readonly RelayTransport _transport;
    private readonly Membership _members;
    private readonly ILogger _logger;
    private readonly Func<ulong, bool> _isMember;
    private readonly Func<ulong, InterestFeed?> _createFeed;

    public TopicExchange(OwnInterests own, RelayTransport transport, Membership members, ILogger logger)
    {
        _own = own;
        _transport = transport;
        _members = members;
        _logger = logger;
        _isMember = instance => members.Members.ContainsKey(instance);
        _createFeed = instance => members.Members.GetValueOrDefault(instance) is { IsCompatible: true }
            ? new InterestFeed(own, transport, instance)
            : null;
        transport.Checked += Retry;
    }

    /// <summary>What the other nodes want.</summary>
    public InterestTable Others { get; init; } = new();

    /// <summary>Sends a publication to each node that wants it and has room in its window.</summary>
    public void Publish<TBody>(ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        Span<ulong> marks = stackalloc ulong[InterestTable.MarkWords];
        marks.Clear();
        InterestTable.Matches nodes = Others.Match(topic, marks);
        while (nodes.MoveNext())
        {
            // Without the lease, others ignore this node's messages.
            if (!_members.HasLease || !_transport.LinkTo(nodes.Current).TryPublish(topic, audience, type, in body))
            {
                _transport.Counters.PublicationsLost(1);
            }
        }
    }

    /// <summary>A node that reads this node's batches has joined.</summary>
    public void NodeJoined(ulong instance)
    {
        Others.AddNode(instance, _isMember);
        FeedTo(instance)?.Send(all: false, ask: true);
    }

    public void NodeLeft(ulong instance)
    {
        // Fire and forget: it cannot fail.
        _ = Others.RemoveNodeAsync(instance);
        _own.EndFeed(instance);
    }

    /// <summary>Interests that this node has sent to a node may be lost.</summary>
    public void Lost(ulong instance) => FeedTo(instance)?.Lost();

    /// <summary>Batches of a node have not arrived here.</summary>
    public void HaveMissed(ulong instance) => FeedTo(instance)?.Send(all: false, ask: true);

    /// <summary>Batches may have been lost at all links, in both directions.</summary>
    public void TellAndAskAll()
    {
        foreach (InterestFeed feed in _own.Feeds())
        {
            feed.Send(all: true, ask: true);
        }
    }

    /// <summary>Handles an entry about wanted topics; false if it is not understood or not kept.</summary>
    public bool TryReceive(ulong sender, EntryKind kind, ReadOnlySpan<byte> payload)
    {
        // The receiver may be faster than the notification that the node has joined.
        Others.AddNode(sender, _isMember);
        switch (kind)
        {
            case EntryKind.Wanted:
                return TryAdd(sender, payload);
            case EntryKind.Unwanted:
                AskAgainIf(Others.Remove(sender, payload), sender);
                return true;
            case EntryKind.InterestsBegin:
                Others.Begin(sender);
                return true;
            case EntryKind.InterestsEnd:
                AskAgainIf(Others.End(sender), sender);
                return true;
            case EntryKind.AskInterests:
                FeedTo(sender)?.Send(all: true, ask: false);
                return true;
            default:
                return false;
        }
    }

    public void Dispose()
    {
        _transport.Checked -= Retry;
        _own.EndFeeds();
    }

    private bool TryAdd(ulong sender, ReadOnlySpan<byte> prefix)
    {
        if (Others.TryAdd(sender, prefix, out int refused))
        {
            return true;
        }

        if (refused == 1)
        {
            BackplaneLog.TooManyInterests(_logger, _transport.LinkTo(sender).Name, Others.MaxPrefixes);
        }

        if (refused != 0)
        {
            _transport.Counters.InterestRefused();
        }

        return refused != 0;
    }

    private void AskAgainIf(bool hasRoom, ulong instance)
    {
        if (hasRoom)
        {
            FeedTo(instance)?.Send(all: false, ask: true);
        }
    }

    private InterestFeed? FeedTo(ulong instance) => _own.FeedTo(instance, _createFeed);

    private void Retry()
    {
        if (!_members.HasLease)
        {
            return;
        }

        foreach (InterestFeed feed in _own.Feeds())
        {
            feed.Retry();
        }
    }
}
