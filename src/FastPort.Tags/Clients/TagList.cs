namespace FastPort.Tags;

/// <summary>
/// Tags that a <see cref="TagClient"/> has resolved, to be read, written and subscribed together. Immutable for its users; after a
/// reconnect the client resolves the names again automatically. Safe from any thread.
/// </summary>
public sealed class TagList
{
    private readonly string[] _names;

    // Guards the look-up of the names in progress: one at a time on a session, shared by all users of the list.
    private readonly Lock _gate = new();
    private (Session Session, Task<Resolved> Task)? _resolving;
    private volatile Resolved _resolved;

    /// <summary>
    /// Creates a list without a client, for a substitute of <see cref="ITagClient"/> to return. A <see cref="TagClient"/> that is given it
    /// resolves the names first.
    /// </summary>
    /// <param name="tags">The tags.</param>
    public TagList(IEnumerable<TagInfo> tags)
    {
        TagInfo[] infos = [.. tags];
        _names = Array.ConvertAll(infos, static info => info.Name);

        // No session has these handles.
        _resolved = new Resolved(null!, new uint[infos.Length], infos, new TagStatus[infos.Length]);
    }

    internal TagList(string[] names, Resolved resolved)
    {
        _names = names;
        _resolved = resolved;
    }

    /// <summary>The names, in the order in which they were given.</summary>
    public IReadOnlyList<string> Names => _names;

    /// <summary>Number of tags.</summary>
    public int Count => Names.Count;

    /// <summary>
    /// The server's information about each tag, in order; null for a name that it does not know. Whenever the list is used, the client
    /// looks up unknown names again, at most once a second.
    /// </summary>
    public IReadOnlyList<TagInfo?> Infos => _resolved.Infos;

    /// <summary>The handles, and the session that they belong to.</summary>
    internal Resolved Current => _resolved;

    /// <summary>The handles of a session: all names are looked up on a new one, and those without a handle when they are due.</summary>
    internal Task<Resolved> ResolveAsync(Session session, Func<Session, string[], Task<Resolved>> resolve)
    {
        lock (_gate)
        {
            Resolved known = _resolved;
            if (known.Session == session && !known.IsDue)
            {
                return Task.FromResult(known);
            }

            if (_resolving is not { Task.IsCompleted: false } under || under.Session != session)
            {
                // Nothing is sent under the gate. It may fail when it is no longer awaited.
                under = (session, Task.Run(() => ResolveAsync(known, session, resolve)));
                _ = under.Task.ContinueWith(static task => _ = task.Exception, TaskScheduler.Default);
                _resolving = under;
            }

            return under.Task;
        }
    }

    private async Task<Resolved> ResolveAsync(Resolved known, Session session, Func<Session, string[], Task<Resolved>> resolve)
    {
        Resolved resolved = known.Session != session ? await resolve(session, _names).ConfigureAwait(false)
            : known.With(await resolve(session, [.. _names.Where((_, i) => known.Handles[i] == 0)]).ConfigureAwait(false));
        lock (_gate)
        {
            // Not in place of those of a later session.
            _resolved = _resolving?.Session == session ? resolved : _resolved;
        }

        return resolved;
    }

    internal sealed record Resolved(Session Session, uint[] Handles, TagInfo?[] Infos, TagStatus[] Statuses)
    {
        private readonly long _since = Environment.TickCount64;

        /// <summary>Number of names that have no handle: the server does not know them, or does not let this client use them.</summary>
        public int Unknown { get; } = Handles.Count(static handle => handle == 0);

        /// <summary>Whether a name has a handle that had none in another list of the same names.</summary>
        public bool HasMoreThan(Resolved other) => Handles.Where((handle, i) => handle != 0 && other.Handles[i] == 0).Any();

        /// <summary>
        /// The same list with the results of a later look-up of the names without a handle, in their order. Handles stay valid.
        /// </summary>
        public Resolved With(Resolved missing)
        {
            uint[] handles = [.. Handles];
            TagInfo?[] infos = [.. Infos];
            TagStatus[] statuses = [.. Statuses];
            for (int i = 0, next = 0; next < missing.Handles.Length; i++)
            {
                if (handles[i] == 0)
                {
                    (handles[i], infos[i], statuses[i]) = (missing.Handles[next], missing.Infos[next], missing.Statuses[next]);
                    next++;
                }
            }

            return new Resolved(Session, handles, infos, statuses);
        }

        /// <summary>Whether names without a handle should be looked up again: they may have a handle by now.</summary>
        public bool IsDue => Unknown != 0 && Environment.TickCount64 - _since >= TagClient.RetryDelay.TotalMilliseconds;
    }
}
