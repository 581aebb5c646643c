using System.Runtime.InteropServices;
using FastPort.Protocol.Tags.Sources;
using FastPort.Protocol.Tags.Wire;
using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Clients;

/// <summary>
/// Tags of a source that a <see cref="TagClient"/> publishes: the server has their values as they change, and its clients' writes go to the
/// source. After a reconnect they are declared and sent again. A server that reads too slowly gets the latest value of each tag. Safe from
/// any thread. Dispose it to end it; the source is not disposed.
/// </summary>
public sealed class TagPublication : IAsyncDisposable
{
    private readonly TagClient _client;
    private readonly ITagSource _source;
    private readonly Listener _listener;
    private readonly CancellationTokenSource _closing = new();

    // One write at a time, so that writes of a tag keep their order.
    private readonly SemaphoreSlim _writing = new(1);

    // Guards what follows, and that pushes leave in the order of the changes. Taken after the source's own locks.
    private readonly Lock _gate = new();
    private readonly string[] _names;

    // By place in the names: the source's number, -1 for a name that it does not have; and the server's handle, 0 for none.
    private readonly int[] _tags;
    private readonly Dictionary<int, int> _places = [];
    private readonly Dictionary<uint, int> _placesByHandle = [];
    private uint[] _handles;

    // The session on which the tags are declared; null for none.
    private Session? _session;

    // Places whose latest value has not been sent. While there are some, or some are being read, others join them.
    private readonly HashSet<int> _behind = [];
    private readonly HandleRows _part = new();
    private bool _isCatchingUp;

    // End when what was behind at their begin has been sent, or the session has ended.
    private readonly List<TaskCompletionSource> _waiting = [];
    private ITagFeed? _feed;

    internal TagPublication(TagClient client, ITagSource source, string[] names)
    {
        _client = client;
        _source = source;
        _names = names;
        _tags = new int[names.Length];
        _handles = new uint[names.Length];
        Statuses = new TagStatus[names.Length];
        _listener = new Listener(this);
    }

    /// <summary>The names of the tags.</summary>
    public IReadOnlyList<string> Names => _names;

    /// <summary>For each tag whether the server has accepted it, as the server has it now.</summary>
    public IReadOnlyList<TagStatus> Statuses { get; private set; }

    /// <summary>Ends the publication: the tags are <see cref="TagStatus.BadNoCommunication"/> for the server's clients.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_closing.IsCancellationRequested)
        {
            return;
        }

        _client.Forget(this);
        await _closing.CancelAsync().ConfigureAwait(false);
        _source.ConnectionChanged -= OnConnectionChanged;
        if (_feed is { } feed)
        {
            await feed.DisposeAsync().ConfigureAwait(false);
        }

        lock (_gate)
        {
            int[] all = Declared();
            Push(all, Bad(all.Length, TagStatus.BadNoCommunication));
            _session = null;
            _behind.Clear();
        }
    }

    /// <summary>Whether it was disposed.</summary>
    internal bool IsEnded => _closing.IsCancellationRequested;

    /// <summary>What is known of the tags now, by place; null for a name that the source does not have.</summary>
    internal async Task<TagInfo?[]> ResolveAsync(CancellationToken cancellationToken)
    {
        var infos = new TagInfo?[_names.Length];
        await _source.ResolveAsync(_names, infos, cancellationToken).ConfigureAwait(false);
        lock (_gate)
        {
            _places.Clear();
            for (int place = 0; place < infos.Length; place++)
            {
                _tags[place] = infos[place]?.Tag ?? -1;
                if (infos[place] is { } info)
                {
                    _places[info.Tag] = place;
                }
            }
        }

        return infos;
    }

    /// <summary>
    /// The tags are declared on a session. All values are sent there; the first time by the feed, when it is opened. Of a publication that
    /// has ended meanwhile the tags end, too.
    /// </summary>
    internal void Accept(Session session, uint[] handles, TagStatus[] statuses)
    {
        lock (_gate)
        {
            _session = session;
            _handles = handles;
            Statuses = statuses;
            _placesByHandle.Clear();
            for (int place = 0; place < handles.Length; place++)
            {
                if (handles[place] != 0)
                {
                    _placesByHandle[handles[place]] = place;
                }
            }

            if (IsEnded)
            {
                int[] all = Declared();
                Push(all, Bad(all.Length, TagStatus.BadNoCommunication));
                _session = null;
                return;
            }

            CatchUp(_feed is null ? [] : Declared());
        }
    }

    /// <summary>Begins to hear of the source's changes.</summary>
    internal async Task OpenFeedAsync(TimeSpan interval, CancellationToken cancellationToken)
    {
        _source.ConnectionChanged += OnConnectionChanged;
        _feed = await _source.OpenFeedAsync(interval, _listener, cancellationToken).ConfigureAwait(false);
        int[] tags;
        lock (_gate)
        {
            tags = [.. _places.Keys];
        }

        await _feed.AddAsync(tags, new TagStatus[tags.Length], cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Whether the tags are declared on a session.</summary>
    internal bool IsOn(Session session)
    {
        lock (_gate)
        {
            return _session == session;
        }
    }

    /// <summary>The session has ended.</summary>
    internal void Lose(Session session)
    {
        lock (_gate)
        {
            if (_session == session)
            {
                _session = null;
                _behind.Clear();
            }
        }
    }

    /// <summary>The source's number for a handle of a session; null for one that is not this publication's.</summary>
    internal int? Find(Session session, uint handle)
    {
        lock (_gate)
        {
            return _session == session && _placesByHandle.TryGetValue(handle, out int place) ? _tags[place] : null;
        }
    }

    /// <summary>
    /// Writes to the source, as the server asks, and sends the values that the tags have then: no read after the reply gets an older one.
    /// </summary>
    internal async Task<TagStatus[]> WriteAsync(IReadOnlyList<int> tags, TagSamples values, CancellationToken cancellationToken)
    {
        var statuses = new TagStatus[tags.Count];
        await _writing.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            TagStatus status = _source.IsConnected
                ? await _source.WriteAsync(tags, values, statuses, cancellationToken).ConfigureAwait(false)
                : TagStatus.BadNoCommunication;
            if (!status.IsGood)
            {
                Array.Fill(statuses, status);
            }

            await SendLatestAsync(tags.Where((_, row) => !statuses[row].IsBad)).WaitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (TagException e)
        {
            Array.Fill(statuses, e.Status);
        }
        finally
        {
            _writing.Release();
        }

        return statuses;
    }

    private static TagSamples Bad(int count, TagStatus status)
    {
        var samples = new TagSamples();
        for (int i = 0; i < count; i++)
        {
            samples.Add(TagSample.Bad(status));
        }

        return samples;
    }

    // Under the gate: the places of tags that the server has accepted.
    private int[] Declared() => [.. _placesByHandle.Values];

    private void OnConnectionChanged()
    {
        lock (_gate)
        {
            CatchUp(Declared());
        }
    }

    private void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
    {
        lock (_gate)
        {
            List<int> places = new(tags.Length);
            var known = new TagSamples();
            for (int i = 0; i < tags.Length; i++)
            {
                if (_places.TryGetValue(tags[i], out int place) && _handles[place] != 0)
                {
                    places.Add(place);
                    known.Add(samples, i);
                }
            }

            int sent = _isCatchingUp ? 0 : Push(CollectionsMarshal.AsSpan(places), known);
            CatchUp(places.Skip(sent));
        }
    }

    // Reads tags of the source, and ends when the server has been sent their values.
    private Task SendLatestAsync(IEnumerable<int> tags)
    {
        lock (_gate)
        {
            CatchUp(tags.Where(_places.ContainsKey).Select(tag => _places[tag]).Where(place => _handles[place] != 0));
            if (!_isCatchingUp)
            {
                return Task.CompletedTask;
            }

            var sent = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting.Add(sent);
            return sent.Task;
        }
    }

    // Under the gate: has the latest values of tags sent when there is room.
    private void CatchUp(IEnumerable<int> places)
    {
        if (_session is null)
        {
            return;
        }

        _behind.UnionWith(places);
        if (_behind.Count != 0 && !_isCatchingUp)
        {
            _isCatchingUp = true;
            _ = CatchUpAsync();
        }
    }

    // What changes meanwhile is behind, too, so that nothing older is sent after it. It waits for its turn, so that all get one.
    private async Task CatchUpAsync()
    {
        // Not on the caller's stack, which holds locks.
        await Task.Yield();
        List<TaskCompletionSource> waiting = [];
        while (true)
        {
            waiting.ForEach(static sent => sent.SetResult());
            Session session;
            int[] places;
            int[] tags;
            lock (_gate)
            {
                waiting = [.. _waiting];
                _waiting.Clear();
                if (_session is null || _behind.Count == 0 || _closing.IsCancellationRequested)
                {
                    _isCatchingUp = false;
                    waiting.ForEach(static sent => sent.SetResult());
                    return;
                }

                session = _session;
                places = [.. _behind];
                tags = Array.ConvertAll(places, place => _tags[place]);
                _behind.Clear();
            }

            while (places.Length != 0)
            {
                await session.WhenWritableAsync(_closing.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                TagSamples samples = await ReadAsync(tags).ConfigureAwait(false);
                lock (_gate)
                {
                    bool isOver = _session != session || _closing.IsCancellationRequested;
                    int sent = isOver ? places.Length : Push(places, samples);
                    (places, tags) = (places[sent..], tags[sent..]);
                }
            }
        }
    }

    private async Task<TagSamples> ReadAsync(int[] tags)
    {
        var samples = new TagSamples();
        TagStatus status;
        try
        {
            status = _source.IsConnected ? await _source.ReadAsync(tags, samples, _closing.Token).ConfigureAwait(false)
                : TagStatus.BadNoCommunication;
        }
        catch (Exception e)
        {
            status = (e as TagException)?.Status ?? TagStatus.BadInternalError;
        }

        return status.IsGood && samples.Count == tags.Length ? samples
            : Bad(tags.Length, status.IsGood ? TagStatus.BadInternalError : status);
    }

    // Under the gate. Returns how many rows were sent; those of a session that has ended count as sent, as all are sent to the next one.
    private int Push(ReadOnlySpan<int> places, TagSamples samples)
    {
        int sent = 0;
        while (sent < places.Length && _session is { } session)
        {
            _part.Clear();
            int end = sent;
            while (end < places.Length && _part.TryAdd(_handles[places[end]], samples, end, session.MaxBodyBytes))
            {
                end++;
            }

            SendStatus status = session.TrySend(TagMessageType.Push, new WriteTagsBody(_part.Handles, _part.Samples, 0));
            if (status is SendStatus.Full or SendStatus.Dropped)
            {
                return sent;
            }

            sent = end;
        }

        return places.Length;
    }

    private sealed class Listener(TagPublication publication) : ITagFeedListener
    {
        public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples) => publication.OnChanges(tags, samples);
    }
}
