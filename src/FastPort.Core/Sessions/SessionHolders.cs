namespace FastPort.Sessions;

/// <summary>An object that holds sessions and releases each one when it has ended.</summary>
internal interface ISessionHolder
{
    /// <summary>The session has ended; called once, on its loop, under no lock.</summary>
    void Release(Session session);
}

/// <summary>
/// The holders of one session. Lock-free, because changes may be made under a holder's own lock. A mutable struct: one field of the
/// session.
/// </summary>
internal struct SessionHolders
{
    private static readonly ISessionHolder[] Ended = [];

    private ISessionHolder[]? _holders;

    /// <summary>Adds a holder that is not in the list; false if the session has ended, and then the holder is not called.</summary>
    public bool TryAdd(ISessionHolder holder)
    {
        while (true)
        {
            ISessionHolder[]? present = Volatile.Read(ref _holders);
            if (ReferenceEquals(present, Ended))
            {
                return false;
            }

            ISessionHolder[] next = present is null ? [holder] : [.. present, holder];
            if (ReferenceEquals(Interlocked.CompareExchange(ref _holders, next, present), present))
            {
                return true;
            }
        }
    }

    public void Remove(ISessionHolder holder)
    {
        while (true)
        {
            ISessionHolder[]? present = Volatile.Read(ref _holders);
            int place = present is null ? -1 : Array.IndexOf(present, holder);
            if (place < 0)
            {
                return;
            }

            ISessionHolder[]? next = present!.Length == 1 ? null : [.. present[..place], .. present[(place + 1)..]];
            if (ReferenceEquals(Interlocked.CompareExchange(ref _holders, next, present), present))
            {
                return;
            }
        }
    }

    /// <summary>The session has ended: calls all holders; none can be added from now on.</summary>
    public void ReleaseAll(Session session)
    {
        foreach (ISessionHolder holder in Interlocked.Exchange(ref _holders, Ended) ?? [])
        {
            holder.Release(session);
        }
    }
}
