using System.Runtime.CompilerServices;
using System.Threading.Channels;
using FastPort.Protocol;
using FastPort.Tags.Messages;

namespace FastPort.Tags;

/// <summary>
/// A subscription to tags. It begins with the current sample of each tag. When the connection is lost, every tag gets a sample with
/// <see cref="TagStatus.BadNoCommunication"/>; after the reconnect the client subscribes again and receives the current samples. Updates
/// are read by one reader at a time; until it has taken an update, the server sends at most four more.
/// </summary>
public sealed class TagSubscription : ITagSubscription
{
    private readonly TagClient _client;
    private readonly Channel<Received> _updates = Channel.CreateUnbounded<Received>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Lock _gate = new();

    // Under the gate: the session that the subscription was made on, its number there, the tags as they were resolved for it, and the
    // place of each handle.
    private Session? _session;
    private uint _id;
    private TagList.Resolved? _resolved;
    private Dictionary<uint, int> _places = [];
    private bool _isLost;

    // Under the gate: the last update that was taken and has to be acknowledged, and whether a thread does so.
    private (Session Session, uint Id, ulong Number) _taken;
    private bool _isAcknowledging;

    internal TagSubscription(TagClient client, TagList tags, TagSubscriptionOptions options)
    {
        _client = client;
        Tags = tags;
        Options = options;
    }

    /// <summary>The tags.</summary>
    public TagList Tags { get; }

    /// <summary>The requested options.</summary>
    public TagSubscriptionOptions Options { get; }

    /// <summary>Time between updates, as the server has set it.</summary>
    public TimeSpan Interval { get; private set; }

    /// <summary>For each tag, whether the server reports it, as of its last answer.</summary>
    public IReadOnlyList<TagStatus> Statuses { get; private set; } = [];

    /// <summary>The updates, until the subscription or the client is disposed.</summary>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    public async IAsyncEnumerable<TagUpdate> ReadUpdatesAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        await foreach (Received received in _updates.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
        {
            Acknowledge(received);
            yield return received.Update;
        }
    }

    /// <summary>The changes of all updates, one by one.</summary>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    public async IAsyncEnumerator<TagChange> GetAsyncEnumerator(CancellationToken cancellationToken = default)
    {
        await foreach (TagUpdate update in ReadUpdatesAsync(cancellationToken).ConfigureAwait(false))
        {
            for (int i = 0; i < update.Samples.Count; i++)
            {
                yield return new TagChange(Tags.Names[update.Tags[i]], update.Samples[i]);
            }
        }
    }

    /// <summary>Ends the subscription. A lost connection is not an error.</summary>
    public async ValueTask DisposeAsync()
    {
        Complete();
        Session? session;
        uint id;
        lock (_gate)
        {
            session = _session;
            id = _id;
            _session = null;
        }

        await _client.EndAsync(this, session, id).ConfigureAwait(false);
    }

    /// <summary>Held while the subscription is being made on a session: it is made there once.</summary>
    internal SemaphoreSlim Subscribing { get; } = new(1);

    internal void Complete() => _updates.Writer.TryComplete();

    /// <summary>Whether the subscription was made on a session; with a number, whether it has that number there.</summary>
    internal bool IsOn(Session session, uint? id = null)
    {
        lock (_gate)
        {
            return _session == session && (id is null || id == _id);
        }
    }

    /// <summary>Its number and its tags as they were resolved, if the subscription was made on a session; otherwise null.</summary>
    internal (uint Id, TagList.Resolved Tags)? MadeOn(Session session)
    {
        lock (_gate)
        {
            return _session == session ? (_id, _resolved!) : null;
        }
    }

    /// <summary>On the loop, before an update can come.</summary>
    internal void Accept(TagList.Resolved resolved, uint id, TimeSpan interval, TagStatus[] statuses)
    {
        // A name that occurs twice has one handle: its changes are those of the first.
        Dictionary<uint, int> places = [];
        for (int i = 0; i < resolved.Handles.Length; i++)
        {
            places.TryAdd(resolved.Handles[i], i);
        }

        lock (_gate)
        {
            _session = resolved.Session;
            _id = id;
            _resolved = resolved;
            _places = places;
            _isLost = false;
        }

        Interval = interval;
        Statuses = statuses;
    }

    internal void Receive(Session session, uint id, ulong number, uint[] handles, TagSamples samples, ulong dropped)
    {
        Dictionary<uint, int> places;
        lock (_gate)
        {
            if (_session != session || _id != id)
            {
                return;
            }

            places = _places;
        }

        int[] tags = Array.ConvertAll(handles, handle => places.GetValueOrDefault(handle, -1));
        if (tags.Contains(-1))
        {
            // A handle that was not subscribed to is left out.
            var known = new TagSamples();
            foreach (int row in Enumerable.Range(0, tags.Length).Where(row => tags[row] >= 0))
            {
                known.Add(samples, row);
            }

            (tags, samples) = (Array.FindAll(tags, static tag => tag >= 0), known);
        }

        _updates.Writer.TryWrite(new Received(session, id, number, new TagUpdate(tags, samples, (long)Math.Min(dropped, long.MaxValue))));
    }

    /// <summary>The session has ended: no tag is known any more.</summary>
    internal void Lose(Session session)
    {
        lock (_gate)
        {
            if (_session != session || _isLost)
            {
                return;
            }

            _isLost = true;
            _session = null;
        }

        var samples = new TagSamples();
        for (int i = 0; i < Tags.Count; i++)
        {
            samples.Add(TagSample.Bad(TagStatus.BadNoCommunication));
        }

        _updates.Writer.TryWrite(new Received(null, 0, 0, new TagUpdate([.. Enumerable.Range(0, Tags.Count)], samples, 0)));
    }

    private void Acknowledge(in Received received)
    {
        if (received.Session is not { } session)
        {
            return;
        }

        lock (_gate)
        {
            _taken = (session, received.Id, received.Number);
            if (_isAcknowledging)
            {
                return;
            }

            _isAcknowledging = true;
        }

        _ = AcknowledgeAsync();
    }

    // Until the last acknowledgment was sent to the server: without it, the server stops sending permanently.
    private async Task AcknowledgeAsync()
    {
        while (true)
        {
            Session session;
            uint id;
            ulong number;
            lock (_gate)
            {
                (session, id, number) = _taken;
            }

            SendStatus status = session.TrySend(
                TagMessageType.Acknowledge, new ProtobufBody(new AcknowledgeUpdates { Subscription = id, Number = number }));
            if (status is SendStatus.Full or SendStatus.Dropped)
            {
                await session.WhenWritableAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                continue;
            }

            lock (_gate)
            {
                if (_taken == (session, id, number))
                {
                    _isAcknowledging = false;
                    return;
                }
            }
        }
    }

    private readonly record struct Received(Session? Session, uint Id, ulong Number, TagUpdate Update);
}
