using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Counts the channels of a server. At the limit, the oldest one without an activated session is closed, and the new one is accepted (OPC
/// 10000-4, 5.5.2); so clients that only connect cannot keep others out. Thread-safe.
/// </summary>
internal sealed class ServerChannels(int most)
{
    private static readonly ChannelFault TooBusy = new(StatusCodes.BadTcpServerTooBusy, "The server has no room for another channel.");
    private static readonly ChannelFault TooOld = new(
        StatusCodes.BadSecureChannelClosed, "The channel had no session, and another one needed its place.");

    private readonly Lock _gate = new();

    // In the order in which they came.
    private readonly LinkedList<ServerChannel> _unused = new();
    private readonly Dictionary<ServerChannel, LinkedListNode<ServerChannel>?> _channels = [];

    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _channels.Count;
            }
        }
    }

    /// <summary>Counts a new channel, and ends one if necessary: the new one if all others have sessions.</summary>
    public void Enter(ServerChannel channel)
    {
        ServerChannel? leaving = null;
        lock (_gate)
        {
            _channels.Add(channel, _unused.AddLast(channel));
            if (_channels.Count > most)
            {
                leaving = _unused.First!.Value;
                Remove(leaving);
            }
        }

        leaving?.GiveWay(leaving == channel ? TooBusy : TooOld);
    }

    /// <summary>A session was activated on the channel: it is no longer closed for others.</summary>
    public void Keep(ServerChannel channel)
    {
        lock (_gate)
        {
            if (_channels.TryGetValue(channel, out LinkedListNode<ServerChannel>? node) && node is not null)
            {
                _unused.Remove(node);
                _channels[channel] = null;
            }
        }
    }

    /// <summary>The channel no longer has a session: it may be closed for others, as if it were new.</summary>
    public void Release(ServerChannel channel)
    {
        lock (_gate)
        {
            if (_channels.TryGetValue(channel, out LinkedListNode<ServerChannel>? node) && node is null)
            {
                _channels[channel] = _unused.AddLast(channel);
            }
        }
    }

    /// <summary>The channel has ended.</summary>
    public void Leave(ServerChannel channel)
    {
        lock (_gate)
        {
            Remove(channel);
        }
    }

    private void Remove(ServerChannel channel)
    {
        if (_channels.Remove(channel, out LinkedListNode<ServerChannel>? node) && node is not null)
        {
            _unused.Remove(node);
        }
    }
}
