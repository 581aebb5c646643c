using System.Security.Claims;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Server;

/// <summary>
/// A session of a client (OPC 10000-4, 5.7). It outlives its channel and can be activated on another one.
/// <para>
/// Its state, with its subscriptions and continuation points, is under <see cref="Gate"/>: requests come on the loop of its channel, cycles
/// of its subscriptions on timers, and another channel may take it over at any time. The lock is nearly always free. Read and Write do
/// without it.
/// </para>
/// <para>Order of locks: gates of two sessions by their numbers, then a variable's, then a monitored item's, then the connection's.</para>
/// </summary>
internal sealed class ServerSession
{
    private readonly SessionManager _manager;

    // Written under the gate; read without it if only the current moment matters.
    private ServerChannel? _channel;
    private long _lastRequest;
    private ClaimsPrincipal? _identity;

    public ServerSession(OpcUaServer server, SessionManager manager, uint number, NodeId token, TimeSpan timeout, ServerChannel channel)
    {
        _manager = manager;
        _channel = channel;
        Number = number;
        Browsing = new Browsing(server.Options.MaxBrowseContinuationPoints);
        Subscriptions = new SessionSubscriptions(server, this);
        Token = token;
        Timeout = timeout;
        LastRequest = manager.Clock.PreciseMilliseconds;
        using var buffer = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteNodeId(token);
        encoder.Complete();
        EncodedToken = buffer.Written.ToArray();
    }

    /// <summary>Guards the session and what belongs to it.</summary>
    public Lock Gate { get; } = new();

    /// <summary>A number that no other session of the server has had.</summary>
    public uint Number { get; }

    public NodeId Id => new(1, Number);

    /// <summary>The secret that requests carry.</summary>
    public NodeId Token { get; }

    /// <summary>The token as it stands in requests.</summary>
    public byte[] EncodedToken { get; }

    /// <summary>How long the session lives without a request.</summary>
    public TimeSpan Timeout { get; }

    /// <summary>The channel that created or last activated the session; null once it has ended.</summary>
    public ServerChannel? Channel => Volatile.Read(ref _channel);

    public Browsing Browsing { get; }

    public SessionSubscriptions Subscriptions { get; }

    /// <summary>Calls and handled Writes that have not ended; a Cancel ends those that support it.</summary>
    public HashSet<RunningCall> Calls { get; } = [];

    public bool IsActivated { get; private set; }

    /// <summary>Whether the session has ended. It is kept while it has subscriptions that another session may take over.</summary>
    public bool IsEnded { get; private set; }

    /// <summary>Whether a client uses it: it was activated and has a channel. A snapshot unless the gate is held.</summary>
    public bool IsUsed => IsActivated && !IsEnded && Channel is not null;

    /// <summary>The certificate of the client that created the session; null without security.</summary>
    public byte[]? ClientCertificate { get; init; }

    /// <summary>The application in the client's certificate; null without security.</summary>
    public string? ClientUri { get; init; }

    /// <summary>The user; null for anonymous, and before the session is activated.</summary>
    public UserIdentity? User { get; private set; }

    /// <summary>The identity of the user, as the application knows it; null for anonymous. Read without the gate.</summary>
    public ClaimsPrincipal? Identity => Volatile.Read(ref _identity);

    /// <summary>The nonce that the client signs to activate the session; changes with each activation.</summary>
    public byte[] Nonce { get; private set; } = NewNonce();

    /// <summary>When the last request came, in milliseconds of the sessions' clock.</summary>
    public long LastRequest
    {
        get => Volatile.Read(ref _lastRequest);
        set => Volatile.Write(ref _lastRequest, value);
    }

    /// <summary>Whether the client has been silent for longer than the session timeout.</summary>
    /// <param name="now">In milliseconds of the sessions' clock.</param>
    public bool IsSilent(long now) => now - LastRequest > Timeout.TotalMilliseconds;

    /// <summary>
    /// Sets the session's user and, if it has changed, its channel (OPC 10000-4, 5.7.3); on that channel's loop. The previous channel gets
    /// no more answers: requests that wait there end. Returns the next nonce to sign, or the reason of a refusal.
    /// </summary>
    public StatusCode Activate(
        ServerChannel channel, UserIdentity? user, ClaimsPrincipal? identity, long now, out byte[] nonce)
    {
        nonce = [];
        ServerChannel? before;
        lock (Gate)
        {
            before = Channel;
            if (IsEnded)
            {
                return StatusCodes.BadSessionIdInvalid;
            }

            // A client may change its user, but not while it proves that it owns the session.
            if (before != channel && (!IsActivated || !Equals(User, user)))
            {
                return IsActivated ? StatusCodes.BadIdentityChangeNotSupported : StatusCodes.BadSecureChannelIdInvalid;
            }

            IsActivated = true;
            User = user;
            Volatile.Write(ref _identity, identity);
            Nonce = nonce = NewNonce();
            LastRequest = now;
            if (before != channel)
            {
                Subscriptions.DropRequests(StatusCodes.BadSecureChannelClosed);
                Volatile.Write(ref _channel, channel);
            }
        }

        channel.Attach(this);
        if (before is not null && before != channel)
        {
            before.DetachSoon(this);
        }

        return StatusCodes.Good;
    }

    /// <summary>A channel has ended. An activated session lives on until its timeout.</summary>
    public void OnChannelClosed(ServerChannel channel)
    {
        bool isUsed;
        lock (Gate)
        {
            if (Channel != channel)
            {
                return;
            }

            isUsed = IsActivated;
            Subscriptions.DropRequests(StatusCodes.BadSecureChannelClosed);
            Volatile.Write(ref _channel, null);
        }

        if (!isUsed)
        {
            End(deletesSubscriptions: true);
        }
    }

    /// <summary>Ends the session. Subscriptions that are not deleted live on until their lifetime, or until they are transferred.</summary>
    public void End(bool deletesSubscriptions)
    {
        lock (Gate)
        {
            EndLocked(deletesSubscriptions);
        }
    }

    /// <summary>
    /// Ends the session with all of its objects, unless it is in use. True if that has made room for another session: false for a session
    /// in use, and if another session has already taken the room.
    /// </summary>
    public bool TryEndUnused()
    {
        lock (Gate)
        {
            return !IsUsed && EndLocked(deletesSubscriptions: true);
        }
    }

    /// <summary>The last subscription is gone; under the gate.</summary>
    public void OnSubscriptionsGone()
    {
        if (IsEnded)
        {
            _manager.Remove(this);
        }
    }

    // Whether this has made room for another session.
    private bool EndLocked(bool deletesSubscriptions)
    {
        if (!IsEnded)
        {
            IsEnded = true;
            Subscriptions.DropRequests(StatusCodes.BadSessionClosed);
            foreach (RunningCall running in Calls)
            {
                running.Cancel();
            }

            // The channel forgets only sessions that are no longer its own.
            ServerChannel? channel = Channel;
            Volatile.Write(ref _channel, null);
            channel?.DetachSoon(this);
        }

        if (deletesSubscriptions)
        {
            Subscriptions.Clear();
        }

        return Subscriptions.Count == 0 && _manager.Remove(this);
    }

    private static byte[] NewNonce() => ChannelCredentials.CreateNonce();
}
