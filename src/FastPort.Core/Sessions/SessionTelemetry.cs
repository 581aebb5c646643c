using FastPort.Telemetry;

namespace FastPort.Sessions;

/// <summary>The counters of the sessions of one server or client. Thread-safe.</summary>
internal sealed class SessionTelemetry(SessionCounters counters)
{
    public SessionCounters Counters { get; } = counters;

    /// <summary>
    /// Counts a close by one of the deadlines, and one for a violation below the frames; one of a frame is counted with its error frame.
    /// Other reasons are ignored.
    /// </summary>
    public void CountClose(CloseReason reason)
    {
        switch (reason.Kind)
        {
            case CloseKind.HandshakeTimeout:
                Counters.TimeoutClosed(ConnectionTimeout.Handshake);
                break;
            case CloseKind.MessageTimeout:
                Counters.TimeoutClosed(ConnectionTimeout.FrameProgress);
                break;
            case CloseKind.IdleTimeout:
                Counters.TimeoutClosed(ConnectionTimeout.Idle);
                break;
            case CloseKind.WriteTimeout:
                Counters.TimeoutClosed(ConnectionTimeout.Write);
                break;
            case CloseKind.HeartbeatTimeout:
                Counters.TimeoutClosed(ConnectionTimeout.Heartbeat);
                break;
            case CloseKind.ProtocolError when reason.ProtocolCode == 0:
                ErrorSent(ErrorCode.MalformedFrame);
                break;
        }
    }

    public void ErrorSent(ErrorCode code) => Counters.ErrorSent((uint)code);
}
