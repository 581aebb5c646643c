using FastPort.Connections;
using FastPort.Dispatch;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Receiving;

public sealed class SessionSeriesTests : ISessionHost, IDisposable
{
    private readonly ConnectionClock _clock = new(new FakeTimeProvider());
    private readonly LatencyStats _stats = new(LatencyRole.Server);

    [Fact]
    public void A_sessions_latencies_begin_with_the_session()
    {
        var connection = new FakeConnection(_clock);
        FrameProtocol protocol = Create(connection);

        // As one whose connection was closed before it was started: nothing would say that it has ended.
        Assert.Null(_stats.EndSession((ulong)protocol.Session.Id));
        connection.Start(protocol);

        Assert.NotNull(_stats.EndSession((ulong)protocol.Session.Id));
    }

    [Fact]
    public void A_sessions_latencies_end_with_the_session()
    {
        var connection = new FakeConnection(_clock);
        FrameProtocol protocol = Create(connection);
        connection.Start(protocol);

        connection.Close(CloseReason.LocalClosed);

        Assert.Null(_stats.EndSession((ulong)protocol.Session.Id));
    }

    public void Dispose() => _clock.Dispose();

    void ISessionHost.OnOpened(Session session)
    {
    }

    void ISessionHost.OnClosed(Session session, CloseReason reason)
    {
    }

    void ISessionHost.OnGoodbye(Session session, CloseReason reason)
    {
    }

    private FrameProtocol Create(FakeConnection connection)
    {
        var handlers = new MessageHandlers();
        handlers.Freeze();
        return new FrameProtocol(new SessionSettings
        {
            Options = new SessionOptions(),
            CreateDispatcher = new DispatchSettings { Handlers = handlers }.Create,
            Clock = _clock,
            Logger = new RecordingLog(),
            Host = this,
            Telemetry = new SessionTelemetry(new SessionCounters()),
            SessionStats = _stats,
        }, connection);
    }
}
