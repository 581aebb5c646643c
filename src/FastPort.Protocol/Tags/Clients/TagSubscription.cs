using System.Runtime.CompilerServices;
using System.Threading.Channels;
using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Clients;

/// <summary>
/// A subscription to tags. It begins with the present sample of each tag. When the connection is lost, every tag gets a sample with
/// <see cref="TagStatus.BadNoCommunication"/>; after the reconnect the client subscribes again, and the present samples come. Updates are
/// read by one reader at a time; until it has taken an update, the server sends at most four more.
/// </summary>
public sealed class TagSubscription : IAsyncEnumerable<TagChange>, IAsyncDisposable
{
    private readonly TagClient _client;
    private readonly Channel<Received> _updates = Channel.CreateUnbounded<Received>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Lock _gate = new();

    // Under the gate: the session that the subscription was made on, and its number there.
    private Session? _session;
    private uint _id;
    private int _missing;
    private bool _isLost;

    // On the loop: the place of each handle.
    private Dictionary<uint, int>? _places;
    private TagList.Resolved? _placesOf;

    internal TagSubscription(TagClient client, TagList tags, TagSubscriptionOptions options)
    {
        _client = client;
        Tags = tags;
        Options = options;
    }

    /// <summary>The tags.</summary>
    public TagList Tags { get; }

    /// <summary>What was asked for.</summary>
    public TagSubscriptionOptions Options { get; }

    /// <summary>Time between updates, as the server has it now.</summary>
    public TimeSpan Interval { get; private set; }

    /// <summary>For each tag whether the server reports it, as the server has it now.</summary>
    public IReadOnlyList<TagStatus> Statuses { get; private set; } = [];

    /// <summary>The updates, until the subscription or the client is disposed.</summary>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    public async IAsyncEnumerable<TagUpdate> ReadUpdatesAsync([EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        await foreach (Received received in _updates.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
        {
            TagClient.Acknowledge(received.Session, received.Id, received.Number);
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

    /// <summary>Ends the subscription. A lost connection is no error.</summary>
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

    internal void Complete() => _updates.Writer.TryComplete();

    /// <summary>Whether the subscription was made on a session; with a number, whether it has that number there.</summary>
    internal bool IsOn(Session session, uint? id = null)
    {
        lock (_gate)
        {
            return _session == session && (id is null || id == _id);
        }
    }

    /// <summary>How many names the server did not know, if the subscription was made on a session; otherwise null.</summary>
    internal (int Names, uint Id)? MissingOn(Session session)
    {
        lock (_gate)
        {
            return _session == session ? (_missing, _id) : null;
        }
    }

    /// <summary>On the loop, before an update can come.</summary>
    internal void Accept(TagList.Resolved resolved, uint id, TimeSpan interval, TagStatus[] statuses)
    {
        lock (_gate)
        {
            _session = resolved.Session;
            _id = id;
            _missing = resolved.Unknown;
            _isLost = false;
        }

        Interval = interval;
        Statuses = statuses;
    }

    internal void Receive(Session session, uint id, ulong number, uint[] handles, TagSamples samples, ulong dropped)
    {
        TagList.Resolved resolved = Tags.Current;
        if (resolved.Session != session)
        {
            return;
        }

        Dictionary<uint, int> places = Places(resolved);
        var tags = new int[handles.Length];
        for (int i = 0; i < handles.Length; i++)
        {
            if (!places.TryGetValue(handles[i], out tags[i]))
            {
                return;
            }
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

    // On the loop. A name that is there twice has one handle: its changes are those of the first.
    private Dictionary<uint, int> Places(TagList.Resolved resolved)
    {
        if (_placesOf != resolved)
        {
            _places = [];
            for (int i = 0; i < resolved.Handles.Length; i++)
            {
                _places.TryAdd(resolved.Handles[i], i);
            }

            _placesOf = resolved;
        }

        return _places!;
    }

    private readonly record struct Received(Session? Session, uint Id, ulong Number, TagUpdate Update);
}
