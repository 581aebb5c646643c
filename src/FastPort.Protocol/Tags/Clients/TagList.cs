using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Clients;

/// <summary>
/// Tags that a <see cref="TagClient"/> has resolved, to be read, written and subscribed together. Immutable for its users; after a
/// reconnect the client resolves the names again by itself. Safe from any thread.
/// </summary>
public sealed class TagList
{
    private volatile Resolved _resolved;

    internal TagList(string[] names, Resolved resolved)
    {
        Names = names;
        _resolved = resolved;
    }

    /// <summary>The names, in the order in which they were given.</summary>
    public IReadOnlyList<string> Names { get; }

    /// <summary>Number of tags.</summary>
    public int Count => Names.Count;

    /// <summary>
    /// What the server knows of each tag, in order; null for a name that it does not know. Whenever the list is used, the client asks for
    /// those again, at most once a second.
    /// </summary>
    public IReadOnlyList<TagInfo?> Infos => _resolved.Infos;

    /// <summary>The handles, and the session that they belong to.</summary>
    internal Resolved Current
    {
        get => _resolved;
        set => _resolved = value;
    }

    internal sealed record Resolved(Session Session, uint[] Handles, TagInfo?[] Infos, TagStatus[] Statuses)
    {
        private readonly long _since = Environment.TickCount64;

        /// <summary>Number of names that have no handle: the server does not know them, or does not let this client use them.</summary>
        public int Unknown { get; } = Handles.Count(static handle => handle == 0);

        /// <summary>Whether a name has a handle that had none in another list of the same names.</summary>
        public bool HasMoreThan(Resolved other) => Handles.Where((handle, i) => handle != 0 && other.Handles[i] == 0).Any();

        /// <summary>
        /// The same with the handles that an earlier list of the session has for names that have none here: those stay valid.
        /// </summary>
        public Resolved OrThoseOf(Resolved earlier) => new(
            Session,
            [.. Handles.Select((handle, i) => handle != 0 ? handle : earlier.Handles[i])],
            [.. Infos.Select((info, i) => Handles[i] != 0 ? info : earlier.Infos[i])],
            [.. Statuses.Select((status, i) => Handles[i] != 0 ? status : earlier.Statuses[i])]);

        /// <summary>Whether names without a handle should be asked for again: they may have one by now.</summary>
        public bool IsDue => Unknown != 0 && Environment.TickCount64 - _since >= TagClient.RetryDelay.TotalMilliseconds;
    }
}
