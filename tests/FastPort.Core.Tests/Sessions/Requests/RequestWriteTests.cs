using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Requests;

/// <summary>A request whose session ends while it is being written.</summary>
public sealed class RequestWriteTests : ISessionHost, IDisposable
{
    private readonly ConnectionClock _clock = new(new FakeTimeProvider());

    public void Dispose() => _clock.Dispose();

    [Fact]
    public void Its_failure_is_told_once()
    {
        var connection = new FakeConnection(_clock);
        Session session = Start(connection);
        var reply = new CountedReply();

        SendStatus status = session.TryRequest(
            TestServer.Echo, new ClosingBody(connection), reply, timing: false, TimeSpan.Zero, out _);

        // Queued: what becomes of it comes to the pending reply, which has been told.
        Assert.Equal((SendStatus.Queued, 1), (status, reply.Failures));
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

    private Session Start(FakeConnection connection)
    {
        var protocol = new FrameProtocol(new SessionSettings
        {
            Options = new SessionOptions(),
            CreateDispatcher = new DispatchSettings { Handlers = new MessageHandlers() }.Create,
            Clock = _clock,
            Logger = new RecordingLog(),
            Host = this,
            Telemetry = new SessionTelemetry(new SessionCounters()),
        }, connection);
        connection.Start(protocol);
        return protocol.Session;
    }

    private readonly struct ClosingBody(FakeConnection connection) : IFrameBody
    {
        public int Size => 4;

        public void Write(Span<byte> destination)
        {
            destination.Clear();
            connection.Close(CloseReason.LocalClosed);
        }
    }

    private sealed class CountedReply : PendingReply
    {
        public int Failures { get; private set; }

        protected internal override void OnReply(scoped in InboundReply reply) => Assert.Fail("There is no reply.");

        protected internal override void OnFailed(RequestFailure failure, string message) => Failures++;
    }
}
