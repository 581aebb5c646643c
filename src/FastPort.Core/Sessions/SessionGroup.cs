using System.Buffers;
using System.Collections.Concurrent;
using FastPort.Framing;

namespace FastPort.Sessions;

/// <summary>
/// A set of sessions that get the same one-way messages: a frame is encoded once and copied into each send queue. Thread-safe. A closed
/// session leaves the group by itself at the next broadcast.
/// </summary>
public sealed class SessionGroup
{
    private readonly ConcurrentDictionary<long, Session> _members = new();

    /// <summary>Number of members, those closed since the last broadcast included.</summary>
    public int Count => _members.Count;

    /// <summary>Adds a session; does nothing where it is a member.</summary>
    /// <param name="session">The session.</param>
    public void Add(Session session)
    {
        ArgumentNullException.ThrowIfNull(session);
        _members[session.Id] = session;
    }

    /// <summary>Removes a session; false where it is no member.</summary>
    /// <param name="session">The session.</param>
    public bool Remove(Session session)
    {
        ArgumentNullException.ThrowIfNull(session);
        return _members.TryRemove(session.Id, out _);
    }

    /// <summary>
    /// Sends a one-way message to every member. A member whose send queue is full does not get it (and is dropped or disconnected as its
    /// policy says); nobody waits for it.
    /// </summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body, encoded once.</param>
    /// <returns>How many members' send queues took the message.</returns>
    /// <exception cref="ArgumentException">The message exceeds the largest frame any configuration allows.</exception>
    public int Broadcast<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        int size = body.Size;
        if (!FrameWriter.Fits(size, FrameLimits.Maximum))
        {
            throw new ArgumentException($"The body has {size} bytes; no frame holds more than {FrameLimits.LargestBody(FrameLimits.Maximum)}.", nameof(body));
        }

        int total = FrameHeader.Size + size;
        byte[] frame = ArrayPool<byte>.Shared.Rent(total);
        try
        {
            new FrameHeader((uint)(total - FrameHeader.LengthFieldSize), type, FrameFlags.OneWay, FrameHeader.CurrentVersion, 0).Write(frame);
            body.Write(frame.AsSpan(FrameHeader.Size, size));
            int sent = 0;
            foreach (KeyValuePair<long, Session> pair in _members)
            {
                Session session = pair.Value;
                if (session.IsClosed)
                {
                    _members.TryRemove(pair);
                }
                else if (session.Protocol.Output.TryBroadcast(frame.AsSpan(0, total)))
                {
                    sent++;
                }
            }

            return sent;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(frame);
        }
    }
}
