using FastPort.Tags.Wire;

namespace FastPort.Tags.Clients;

/// <summary>
/// The messages of a publication to the session on which its tags are declared: changes as they come, while there is room; for the others
/// the latest values later. The publication's gate guards it, and that pushes leave in the order of the changes: all but
/// <see cref="SendLatestAsync"/> is called under it. Tags are places in the publication's names.
/// </summary>
/// <param name="gate">The publication's gate.</param>
/// <param name="count">Number of its names.</param>
/// <param name="read">
/// Reads the latest values of places, a row for each, and returns whether that has failed: then it is retried later. Called without the
/// gate.
/// </param>
internal sealed class TagPushes(Lock gate, int count, Func<int[], Task<(TagSamples Samples, bool HasFailed)>> read)
{
    // Places whose latest value has not been sent. While there are any, or any are being read, others join them.
    private readonly HashSet<int> _behind = [];
    private readonly HandleRows _part = new();

    // Places whose value could not be read, until they are behind again.
    private readonly HashSet<int> _unread = [];
    private bool _isCatchingUp;

    // End when what was behind at their begin has been sent, or the session has ended.
    private readonly List<TaskCompletionSource> _waiting = [];

    // By place the server's handle, 0 for none.
    private uint[] _handles = new uint[count];

    /// <summary>The session on which the tags are declared; null for none.</summary>
    public Session? Session { get; private set; }

    /// <summary>The tags are declared on a session, with these handles.</summary>
    public void Begin(Session session, uint[] handles) => (Session, _handles) = (session, handles);

    /// <summary>There is no session: nothing is sent until there is a new one.</summary>
    public void End()
    {
        Session = null;
        _behind.Clear();
    }

    /// <summary>Whether the server has accepted a tag.</summary>
    public bool IsDeclared(int place) => _handles[place] != 0;

    /// <summary>Sends changes, a row for each place; changes without room fall behind.</summary>
    public void Push(ReadOnlySpan<int> places, TagSamples samples)
    {
        int sent = _isCatchingUp ? 0 : Send(places, samples);
        foreach (int place in places[..sent])
        {
            // Newer than what could not be read.
            _unread.Remove(place);
        }

        CatchUp(places[sent..].ToArray());
    }

    /// <summary>Arranges for the latest values of tags to be sent when there is room.</summary>
    public void CatchUp(IEnumerable<int> places)
    {
        if (Session is null)
        {
            return;
        }

        _behind.UnionWith(places);
        if (_behind.Count != 0 && !_isCatchingUp)
        {
            _isCatchingUp = true;
            _ = NoContext.Start(CatchUpAsync);
        }
    }

    /// <summary>
    /// As <see cref="CatchUp"/>. Ends when the server has been sent the values, or the session has ended. The places are checked under the
    /// gate.
    /// </summary>
    public Task SendLatestAsync(IEnumerable<int> places)
    {
        lock (gate)
        {
            CatchUp(places);
            if (!_isCatchingUp)
            {
                return Task.CompletedTask;
            }

            var sent = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting.Add(sent);
            return sent.Task;
        }
    }

    // Later changes fall behind, too, so that no older value is sent after them. They wait for their turn, so that all tags get one.
    private async Task CatchUpAsync()
    {
        // Not on the caller's stack, which holds locks.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        List<TaskCompletionSource> waiting = [];
        while (true)
        {
            waiting.ForEach(static sent => sent.SetResult());
            Session session;
            int[] places;
            lock (gate)
            {
                waiting = [.. _waiting];
                _waiting.Clear();
                if (Session is null || _behind.Count == 0)
                {
                    _isCatchingUp = false;
                    waiting.ForEach(static sent => sent.SetResult());
                    return;
                }

                session = Session;
                places = [.. _behind];
                _behind.Clear();
            }

            while (places.Length != 0)
            {
                await session.WhenWritableAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                (TagSamples samples, bool hasFailed) = await read(places).ConfigureAwait(false);
                lock (gate)
                {
                    if (hasFailed)
                    {
                        ReadLater(places);
                    }

                    places = Session == session ? places[Send(places, samples)..] : [];
                }
            }
        }
    }

    private void ReadLater(int[] places)
    {
        bool isFirst = _unread.Count == 0;
        _unread.UnionWith(places);
        if (isFirst)
        {
            _ = CatchUpLaterAsync();
        }
    }

    private async Task CatchUpLaterAsync()
    {
        await Task.Delay(TagClient.RetryDelay).ConfigureAwait(false);
        lock (gate)
        {
            CatchUp(_unread);
            _unread.Clear();
        }
    }

    // Returns how many rows were sent; those of a session that has ended count as sent, as all are sent to the next one.
    private int Send(ReadOnlySpan<int> places, TagSamples samples)
    {
        int sent = 0;
        while (sent < places.Length && Session is { } session)
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
}
