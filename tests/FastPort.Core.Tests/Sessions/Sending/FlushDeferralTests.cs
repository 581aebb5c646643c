using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

/// <summary>When the messages of a burst leave; with how many system calls is <see cref="SendCallTests"/>'.</summary>
public sealed class FlushDeferralTests : ISessionHost, IDisposable
{
    private readonly ConnectionClock _clock = new(new FakeTimeProvider());
    private readonly FakeConnection _connection;

    public FlushDeferralTests() => _connection = new FakeConnection(_clock);

    public void Dispose() => _clock.Dispose();

    private static bool ThrowsAtItsEnd(FlushDeferral deferral)
    {
        try
        {
            deferral.Dispose();
            return false;
        }
        catch (InvalidOperationException)
        {
            return true;
        }
    }

    [Fact]
    public void The_messages_of_a_burst_leave_together_at_its_end()
    {
        Session session = Start();

        using (session.DeferFlush())
        {
            Send(session, 500);
            Assert.Equal(0, _connection.Flushes);
        }

        Assert.Equal(1, _connection.Flushes);
        Assert.Equal(500, _connection.SentTypes.Count);
    }

    [Fact]
    public void A_burst_that_fills_the_send_queue_is_flushed_each_time()
    {
        Session session = Start(sendQueueBytes: 64 * 1024);
        const int Fit = (64 * 1024 / (FrameHeader.Size + 1000)) + 1;

        using (session.DeferFlush())
        {
            Send(session, Fit);
            Assert.Equal(0, _connection.Flushes);
            Send(session, 1);
            Assert.Equal((1, Fit), (_connection.Flushes, _connection.SentTypes.Count));
            Send(session, Fit);
            Assert.Equal((2, 2 * Fit), (_connection.Flushes, _connection.SentTypes.Count));
        }

        Assert.Equal((3, (2 * Fit) + 1), (_connection.Flushes, _connection.SentTypes.Count));
        Assert.Equal(0, session.MessagesDropped);
    }

    [Fact]
    public void A_deferral_ends_once()
    {
        Session session = Start();
        FlushDeferral outer = session.DeferFlush();
        FlushDeferral inner = session.DeferFlush();
        inner.Dispose();
        Send(session, 1);

        Assert.Equal(0, _connection.Flushes);
        Assert.True(ThrowsAtItsEnd(inner), "a deferral that has ended was ended again");
        Assert.Equal(0, _connection.Flushes);

        outer.Dispose();
        Assert.Equal(1, _connection.Flushes);
        Assert.True(ThrowsAtItsEnd(outer), "a deferral that has ended was ended again");
    }

    [Fact]
    public void A_burst_inside_a_handler_of_its_session_leaves_with_the_reply()
    {
        Session session = Start(handlers: h => h.MapInline(0x1001, (ref InlineRequest r) =>
        {
            using (r.Session.DeferFlush())
            {
                Send(r.Session, 3);
            }

            Assert.Equal(0, _connection.Flushes);
        }));

        _connection.Receive(Wire.Request(0x1001, 1));

        Assert.Equal(1, _connection.Flushes);
        Assert.Equal([TestServer.Echo, TestServer.Echo, TestServer.Echo, 0x1001], _connection.SentTypes);
        Assert.False(session.IsClosed);
    }

    void ISessionHost.OnOpened(Session session)
    {
    }

    void ISessionHost.OnClosed(Session session, CloseReason reason)
    {
    }

    void ISessionHost.OnGoodbye(Session session, CloseReason reason)
    {
    }

    private static void Send(Session session, int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            Assert.Equal(SendStatus.Queued, session.TrySend(TestServer.Echo, new byte[1000]));
        }
    }

    // The connecting side, which may send at once.
    private Session Start(Action<MessageHandlers>? handlers = null, int sendQueueBytes = 1024 * 1024)
    {
        var table = new MessageHandlers();
        handlers?.Invoke(table);
        table.Freeze();
        var protocol = new FrameProtocol(new SessionSettings
        {
            Options = new SessionOptions { SendQueueBytes = sendQueueBytes },
            CreateDispatcher = new DispatchSettings { Handlers = table }.Create,
            Clock = _clock,
            Logger = new RecordingLog(),
            Host = this,
            Telemetry = new SessionTelemetry(new SessionCounters()),
        }, _connection);
        _connection.Start(protocol);
        return protocol.Session;
    }
}
