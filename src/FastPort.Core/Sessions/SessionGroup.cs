using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Sending;

namespace FastPort;

/// <summary>
/// A set of sessions that receive the same one-way messages. A frame is encoded once and copied into each send queue; from 16 KiB on, it is
/// sent to all from the same memory. Thread-safe: a session that is added or removed during a broadcast may get it or not. A session that
/// has ended is removed automatically.
/// </summary>
public sealed class SessionGroup : ISessionHolder
{
    // Guards changes; a broadcast iterates over the members without it.
    private readonly Lock _gate = new();
    private readonly MemberSet<Session> _members = new();

    /// <summary>Number of members.</summary>
    public int Count => _members.Count;

    /// <summary>Adds a session. Does nothing if it is already a member, or has ended.</summary>
    /// <param name="session">The session.</param>
    public void Add(Session session)
    {
        ArgumentNullException.ThrowIfNull(session);
        lock (_gate)
        {
            if (_members.Add(session) && !session.Holders.TryAdd(this))
            {
                _members.Remove(session);
            }
        }
    }

    /// <summary>Removes a session; false if it is not a member.</summary>
    /// <param name="session">The session.</param>
    public bool Remove(Session session)
    {
        ArgumentNullException.ThrowIfNull(session);
        lock (_gate)
        {
            bool removed = _members.Remove(session);
            if (removed)
            {
                session.Holders.Remove(this);
            }

            return removed;
        }
    }

    /// <summary>
    /// Sends a one-way message to every member. A member whose send queue is full does not receive it (and is dropped or disconnected as
    /// its policy says), nor does one whose peer has not said Hello. The call does not wait for any member.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body, encoded once.</param>
    /// <returns>The number of members whose send queues accepted the message.</returns>
    /// <exception cref="ArgumentException">The message exceeds the largest frame that any configuration allows.</exception>
    public int Broadcast<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        SharedFrame frame = SharedFrame.Encode(type, in body);
        try
        {
            return frame.SendTo(_members.Members, solicited: false);
        }
        finally
        {
            frame.Release();
        }
    }

    void ISessionHolder.Release(Session session)
    {
        lock (_gate)
        {
            _members.Remove(session);
        }
    }
}
