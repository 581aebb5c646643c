using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The server's end of a secure channel. Everything runs on the connection's loop, but for steps that reading pauses for
/// (<see cref="ChannelProtocol.RunAside"/>).
/// </summary>
internal sealed partial class ServerChannel : ChannelProtocol, IMemoryUser
{
    // A client without an activated session must not make the server buffer more.
    private const int MaxStrangerBytes = 64 * 1024;
    private const int MinMaxChunks = 16;

    private readonly CancellationTokenSource _ended = new();
    private readonly OpcUaServer _server;
    private bool _helloReceived;
    private volatile bool _isPeerKnown;
    private long _openUntil = long.MaxValue;
    private int _runningCalls;

    public ServerChannel(OpcUaServer server)
        : base(
            new EncodingLimits(
                MaxByteStringBytes: server.Options.MaxMessageBytes,
                MaxStringBytes: server.Options.MaxMessageBytes),
            server.Time)
    {
        _server = server;
        MaxChunkBytes = server.Options.MaxChunkBytes;
    }

    /// <summary>
    /// Whether sessions may be used on the channel: without security, a client may only request endpoints if None is not offered.
    /// </summary>
    public bool AllowsSessions => _policy is not null && _server.Offers(_policy, SecurityMode);

    /// <summary>The client's address.</summary>
    public System.Net.EndPoint? RemoteEndPoint => Connection.RemoteEndPoint;

    /// <summary>
    /// The server's URL for this client: the URL that it has used, because only the client knows the name and port by which it connects;
    /// this server's if it names none.
    /// </summary>
    public string UrlFor(string? used) => _server.UrlFor(used, Connection.LocalEndPoint);

    /// <summary>About the largest response that both sides accept, in bytes.</summary>
    public int LargestResponse { get; private set; }

    /// <summary>Canceled when the connection has ended.</summary>
    public CancellationToken Ended => _ended.Token;

    /// <summary>Whether a session was activated on the channel.</summary>
    public bool IsPeerKnown => _isPeerKnown;

    protected override int MaxSendBytes => _server.Options.MaxSendBytes;

    // While the server was suspended the client could not renew.
    protected override TimeSpan TokenClock => TimeSpan.FromMilliseconds(_server.Sessions.Clock.PreciseMilliseconds);

    private DateTime Now => Time.GetUtcNow().UtcDateTime;

    /// <summary>Whether the application checks a user for a session of this channel. On the loop.</summary>
    internal bool IsCheckingUser { get; set; }

    /// <summary>Calls and handled Writes of the channel that have not ended. They begin only on the loop.</summary>
    internal int RunningCalls => Volatile.Read(ref _runningCalls);

    public override long OnTick(long nowMilliseconds)
    {
        if (ChannelId == 0)
        {
            if (_openUntil == long.MaxValue)
            {
                _openUntil = nowMilliseconds + (long)_server.Options.HandshakeTimeout.TotalMilliseconds;
            }

            if (nowMilliseconds < _openUntil)
            {
                return _openUntil;
            }

            Fail(new ChannelFault(
                StatusCodes.BadTimeout, $"No secure channel was opened within {_server.Options.HandshakeTimeout.TotalSeconds} s."));
            return ConnectionClock.Never;
        }

        if (IsAside)
        {
            return ConnectionClock.NextTick;
        }

        TimeSpan left = DropExpiredTokens();
        if (left > TimeSpan.Zero)
        {
            return nowMilliseconds + (long)left.TotalMilliseconds + 1;
        }

        Fail(new ChannelFault(StatusCodes.BadSecureChannelTokenUnknown, "The secure channel's token has expired and was not renewed."));
        return ConnectionClock.Never;
    }

    public override void OnClosed(CloseReason reason)
    {
        _sessions.ForEach(session => session.OnChannelClosed(this));

        _server.Channels.Leave(this);

        // Asynchronously: the loop must not run the methods' callbacks.
        _ = _ended.CancelAsync();
        base.OnClosed(reason);
    }

    // There is room again for waiting Publish requests.
    public override void OnOutputDrained()
    {
        base.OnOutputDrained();
        foreach (ServerSession session in _sessions)
        {
            lock (session.Gate)
            {
                session.Subscriptions.Serve();
            }
        }
    }

    void IMemoryUser.TellAndClose(CloseReason reason) => Connection.Post(
        _ => Fail(new ChannelFault(StatusCodes.BadTcpNotEnoughResources, reason.Message), reason), null);

    /// <summary>Ends the channel for one that was opened later. Any thread.</summary>
    internal void GiveWay(ChannelFault reason) => Connection.Post(_ => Fail(reason), null);

    /// <summary>Counts calls that begin, or end. Any thread.</summary>
    internal void CountRunningCalls(int change) => Interlocked.Add(ref _runningCalls, change);

    /// <summary>Runs an action on the loop, unless the connection has ended.</summary>
    public void Post(Action action) => Connection.Post(static action => ((Action)action!)(), action);

    protected override void OnOpened()
    {
        Distrust();
        _server.Channels.Enter(this);
    }

    protected override ChannelFault? OnTransportMessage(uint type, ReadOnlySpan<byte> body)
    {
        if (type != MessageType.Hello || _helloReceived)
        {
            return new ChannelFault(StatusCodes.BadTcpMessageTypeInvalid, "A Hello message is expected once, before all others.");
        }

        _helloReceived = true;
        var decoder = new BinaryDecoder(body, new EncodingLimits(MaxStringBytes: ChannelLimits.MaxTextBytes));
        HelloMessage hello = decoder.ReadStructure<HelloMessage>();
        if (!decoder.Error.IsGood)
        {
            return new ChannelFault(StatusCodes.BadTcpEndpointUrlInvalid, "The Hello message or its endpoint URL is not valid.");
        }

        int chunkBytes = ChannelLimits.AgreeOnChunkBytes(_server.Options.MaxChunkBytes, hello.ReceiveBufferSize, hello.SendBufferSize);
        if (chunkBytes < ChannelLimits.MinChunkBytes)
        {
            return new ChannelFault(
                StatusCodes.BadConnectionRejected,
                $"The buffers of {chunkBytes} bytes are smaller than {ChannelLimits.MinChunkBytes} bytes.");
        }

        MaxChunkBytes = chunkBytes;
        uint messageBytes = (uint)_server.Options.MaxMessageBytes;
        long chunks = hello.MaxChunkCount == 0 ? uint.MaxValue : hello.MaxChunkCount;
        LargestResponse = (int)Math.Min(
            Math.Min(messageBytes, hello.MaxMessageSize == 0 ? uint.MaxValue : hello.MaxMessageSize), chunks * chunkBytes);
        Writer.SetLimits(new ChannelLimits(chunkBytes, _server.Options.MaxMessageBytes, (uint)LargestResponse, hello.MaxChunkCount));
        var acknowledge = new AcknowledgeMessage
        {
            ReceiveBufferSize = (uint)chunkBytes,
            SendBufferSize = (uint)chunkBytes,
            MaxMessageSize = messageBytes,
            MaxChunkCount = (uint)MaxChunks,
        };
        Writer.WriteTransportMessage(MessageType.Acknowledge, acknowledge);
        return null;
    }

    protected override void Fail(ChannelFault fault) => Fail(fault, new CloseReason(CloseKind.ProtocolError, fault.ToString()));

    private void Fail(ChannelFault fault, CloseReason reason)
    {
        if (Connection.IsClosing)
        {
            return;
        }

        ServerLog.ChannelFailed(_server.Logger, Connection.RemoteEndPoint, ChannelId, fault);
        var error = new ErrorMessage
        {
            Error = fault.Status,
            Reason = fault.Status == StatusCodes.BadSecurityChecksFailed ? null : fault.Reason,
        };
        Writer.WriteTransportMessage(MessageType.Error, error);
        Connection.Close(reason);

        // The close may take a while.
        Incoming.Clear();
    }

    // Of a client with a session.
    private int MaxChunks => Math.Max(MinMaxChunks, (_server.Options.MaxMessageBytes / (MaxChunkBytes / 2)) + 1);

    // A session was activated: from now on the client's requests may be as large as the server accepts them.
    private void Admit()
    {
        if (!_isPeerKnown)
        {
            _isPeerKnown = true;
            Incoming.SetLimits(_server.Options.MaxMessageBytes, MaxChunks);
            _server.Channels.Keep(this);
        }
    }

    // No activated session is left.
    private void Dismiss()
    {
        if (_isPeerKnown)
        {
            _isPeerKnown = false;
            Distrust();
            _server.Channels.Release(this);
        }
    }

    private void Distrust() => Incoming.SetLimits(MaxStrangerBytes, MinMaxChunks);
}
