using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;

namespace FastPort.Tests.Support;

/// <summary>A session without a peer or a loop: what it receives, and when it is offered that, a test says.</summary>
internal sealed class QuietSession : ISessionHost, IDisposable
{
    private readonly ConnectionClock _clock;

    /// <param name="handlers">Registers its handlers. Defaults to none.</param>
    /// <param name="options">Changes the options of its server. Defaults to nothing.</param>
    /// <param name="accepts">Whether it is the accepting side's, a server's.</param>
    public QuietSession(Action<MessageHandlers>? handlers = null, Action<FastPortServerOptions>? options = null, bool accepts = true)
    {
        var all = new MessageHandlers();
        handlers?.Invoke(all);
        all.Freeze();
        var serverOptions = new FastPortServerOptions();
        serverOptions.Routing.Relay = serverOptions.Routing.Topics = true;
        options?.Invoke(serverOptions);
        var identities = new IdentityRegistry();
        Routing = new ServerRouting(serverOptions.Routing, identities, null, Counters);
        _clock = new ConnectionClock(Time);
        Connection = new FakeConnection(_clock);
        Protocol = new FrameProtocol(new SessionSettings
        {
            Options = serverOptions.Session,
            CreateDispatcher = new DispatchSettings { Handlers = all, FrameworkHandlers = Routing.CreateHandlers() }.Create,
            Clock = _clock,
            Logger = new RecordingLog(),
            Host = this,
            Telemetry = new SessionTelemetry(Counters),
            Handshake = accepts ? new HandshakeSettings { ServerName = "test", RoutingIds = identities } : null,
            ShutdownGrace = serverOptions.ShutdownGrace,
        }, Connection);
        Connection.Start(Protocol);
    }

    public FakeTimeProvider Time { get; } = new();

    /// <summary>The callbacks that the session's host received, in order.</summary>
    public List<string> Told { get; } = [];

    /// <summary>Called after each of these callbacks, before it returns. Defaults to nothing.</summary>
    public Action? Telling { get; set; }

    public SessionCounters Counters { get; } = new();

    public ServerRouting Routing { get; }

    public FakeConnection Connection { get; }

    public FrameProtocol Protocol { get; }

    public Session Session => Protocol.Session;

    /// <summary>
    /// Offers what is there until the session no longer asks for another turn, and returns how many frames it handled in each.
    /// </summary>
    public List<long> OfferAll()
    {
        List<long> turns = [];
        int resumes;
        do
        {
            resumes = Connection.Resumes;
            long before = Protocol.MessagesReceived;
            Connection.Offer();
            turns.Add(Protocol.MessagesReceived - before);
        }
        while (Connection.Resumes != resumes);
        return turns;
    }

    public void Dispose()
    {
        Connection.Close(CloseReason.LocalClosed);
        _clock.Dispose();
    }

    void ISessionHost.OnOpened(Session session)
    {
    }

    void ISessionHost.OnClosed(Session session, CloseReason reason) => Tell($"closed {reason.Kind}");

    void ISessionHost.OnGoodbye(Session session, CloseReason reason) => Tell($"goodbye {reason.Kind}");

    void ISessionHost.OnIdentified(Session session) => Tell("identified");

    private void Tell(string what)
    {
        Told.Add(what);
        Telling?.Invoke();
    }
}
