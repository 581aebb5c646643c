using FastPort.Tags.Clients;

namespace FastPort.Tags;

/// <summary>
/// Tags of a source that a <see cref="TagClient"/> publishes: the server receives their values as they change, and its clients' writes go
/// to the source. After a reconnect they are declared and sent again. A server that reads too slowly gets the latest value of each tag: it
/// is read from the source, at most for the client's <see cref="FastPort.FastPortClientOptions.RequestTimeout"/>. Safe from any
/// thread. Dispose it to end it; the source is not disposed.
/// </summary>
public sealed partial class TagPublication : ITagPublication
{
    private readonly TagClient _client;
    private readonly ITagSource _source;
    private readonly TimeSpan _interval;
    private readonly Listener _listener;
    private readonly CancellationTokenSource _closing = new();

    // One write at a time, so that writes of a tag keep their order.
    private readonly SemaphoreSlim _writing = new(1);

    // One call of the feed at a time.
    private readonly SemaphoreSlim _feeding = new(1);
    private ITagFeed? _feed;

    // Guards the following fields. Taken after the source's own locks.
    private readonly Lock _gate = new();
    private readonly TagPushes _pushes;
    private readonly string[] _names;

    // By place in the names: the source's number, -1 for a name that it does not have.
    private readonly int[] _tags;
    private readonly Dictionary<int, int> _places = [];

    // Those that the server has accepted on the session.
    private readonly Dictionary<uint, int> _placesByHandle = [];

    // By the source's number: whether the feed reports the tag. Those that it has refused are offered to it again.
    private readonly Dictionary<int, TagStatus> _fed = [];

    internal TagPublication(TagClient client, ITagSource source, string[] names, TimeSpan interval)
    {
        _client = client;
        _source = source;
        _names = names;
        _interval = interval;
        _tags = new int[names.Length];
        _pushes = new TagPushes(_gate, names.Length, ReadAsync);
        Statuses = new TagStatus[names.Length];
        _listener = new Listener(this);
        source.ConnectionChanged += OnConnectionChanged;
    }

    /// <summary>The names of the tags.</summary>
    public IReadOnlyList<string> Names => _names;

    /// <summary>For each tag, whether the server has accepted it, as of its last answer.</summary>
    public IReadOnlyList<TagStatus> Statuses { get; private set; }

    /// <summary>
    /// Ends the publication: the tags are <see cref="TagStatus.BadNoCommunication"/> for the server's clients. Waits until the server has
    /// been notified and the source's feed is closed, at most for the client's
    /// <see cref="FastPort.FastPortClientOptions.RequestTimeout"/>.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        _client.Forget(this);
        await _closing.CancelAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _source.ConnectionChanged -= OnConnectionChanged;
        Task closing = CloseFeedAsync();

        // When the client closes its connection, the server notices without a message.
        if (!_client.IsClosing)
        {
            await _pushes.SendLatestAsync(_placesByHandle.Values).WaitAsync(_client.RequestTimeoutForWait)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        await closing.ConfigureAwait(false);
        lock (_gate)
        {
            _pushes.End();
        }
    }

    /// <summary>Held while the tags are being declared on a session.</summary>
    internal SemaphoreSlim Declaring { get; } = new(1);

    /// <summary>Whether it was disposed.</summary>
    internal bool IsEnded => _closing.IsCancellationRequested;

    /// <summary>The current descriptions of the tags, by place; null for a name that the source does not have.</summary>
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
    /// The tags are declared on a session. All values are sent there; the first time by the feed, when it has the tags. The tags of a
    /// publication that has ended in the meantime end, too.
    /// </summary>
    internal void Accept(Session session, uint[] handles, TagStatus[] statuses)
    {
        lock (_gate)
        {
            _pushes.Begin(session, handles);
            Statuses = statuses;
            _placesByHandle.Clear();
            for (int place = 0; place < handles.Length; place++)
            {
                if (handles[place] != 0)
                {
                    _placesByHandle[handles[place]] = place;
                }
            }

            _pushes.CatchUp(_placesByHandle.Values.Where(place => IsEnded || _fed.ContainsKey(_tags[place])));
        }
    }

    /// <summary>Whether the tags are declared on a session.</summary>
    internal bool IsOn(Session session)
    {
        lock (_gate)
        {
            return _pushes.Session == session;
        }
    }

    /// <summary>The session has ended.</summary>
    internal void Lose(Session session)
    {
        lock (_gate)
        {
            if (_pushes.Session == session)
            {
                _pushes.End();
            }
        }
    }

    /// <summary>The source's number for a handle of a session; null for one that is not this publication's.</summary>
    internal int? Find(Session session, uint handle)
    {
        lock (_gate)
        {
            return _pushes.Session == session && _placesByHandle.TryGetValue(handle, out int place) ? _tags[place] : null;
        }
    }

    /// <summary>
    /// Writes to the source, as requested by the server, and sends the tags' new values: no read after the reply gets an older one.
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

            await _pushes.SendLatestAsync(Declared(tags.Where((_, row) => !statuses[row].IsBad))).WaitAsync(cancellationToken)
                .ConfigureAwait(false);
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

    // Under the gate: the places of those tags that the server has accepted.
    private IEnumerable<int> Declared(IEnumerable<int> tags) =>
        tags.Where(_places.ContainsKey).Select(tag => _places[tag]).Where(_pushes.IsDeclared);

    // The values that tags have now: those of the source, or why there are none; and whether a read has failed that may succeed later.
    private async Task<(TagSamples Samples, bool HasFailed)> ReadAsync(int[] places)
    {
        int[] tags;
        lock (_gate)
        {
            tags = Array.ConvertAll(places, place => _tags[place]);
        }

        var samples = new TagSamples();
        TagStatus status = _source.IsConnected && !IsEnded ? TagStatus.Good : TagStatus.BadNoCommunication;
        bool mustRead = status.IsGood;
        var limit = CancellationTokenSource.CreateLinkedTokenSource(_closing.Token);
        try
        {
            if (mustRead)
            {
                status = await _source.ReadAsync(tags, samples, limit.Token).AsTask()
                    .WaitAsync(_client.RequestTimeoutForWait, limit.Token).ConfigureAwait(false);
            }

            limit.Dispose();
        }
        catch (Exception e)
        {
            status = IsEnded ? TagStatus.BadNoCommunication : (e as TagException)?.Status
                ?? (e is TimeoutException ? TagStatus.BadTimeout : TagStatus.BadInternalError);
            _ = PolledTagFeed.GiveUpAsync(limit);
        }

        status = status.IsGood && samples.Count != tags.Length ? TagStatus.BadInternalError : status;
        var latest = new TagSamples();
        lock (_gate)
        {
            for (int i = 0; i < tags.Length; i++)
            {
                TagStatus fed = _fed.GetValueOrDefault(tags[i]);
                if (status.IsGood && !fed.IsBad)
                {
                    latest.Add(samples, i);
                }
                else
                {
                    latest.Add(TagSample.Bad(status.IsGood ? fed : status));
                }
            }
        }

        return (latest, mustRead && !status.IsGood && !IsEnded);
    }
}
