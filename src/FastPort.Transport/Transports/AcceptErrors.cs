using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>How an accept loop continues after an error.</summary>
internal enum AcceptErrorClass
{
    /// <summary>Only one peer is affected: accept the next at once.</summary>
    Transient,

    /// <summary>The machine is short of a resource: wait, longer each time, then retry.</summary>
    Pressure,

    /// <summary>The listening socket itself is unusable.</summary>
    Fatal,
}

/// <summary>
/// Classifies accept errors. An unknown error counts as pressure: retrying at once could spin, giving up could be premature.
/// </summary>
internal static class AcceptErrors
{
    // Linux reports errors of the network under the new connection by accept: accept(2) names them, EOPNOTSUPP among them, and has them
    // treated as EAGAIN.
    public static AcceptErrorClass Sort(SocketError error) => error switch
    {
        SocketError.ConnectionReset or SocketError.ConnectionAborted or SocketError.Interrupted or SocketError.WouldBlock
            or SocketError.NetworkDown or SocketError.NetworkUnreachable or SocketError.HostDown or SocketError.HostUnreachable
            or SocketError.ProtocolOption or SocketError.TimedOut or SocketError.OperationNotSupported => AcceptErrorClass.Transient,
        SocketError.NotSocket or SocketError.InvalidArgument or SocketError.OperationAborted or SocketError.Shutdown =>
            AcceptErrorClass.Fatal,
        _ => AcceptErrorClass.Pressure,
    };
}

/// <summary>
/// Handles and logs the errors of an accept loop. Delays between accepts under pressure are 100 ms doubling to 5 s, starting anew after a
/// success. Used by one thread at a time.
/// </summary>
internal sealed class AcceptRecovery(ConnectionSettings settings)
{
    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(5);

    private TimeSpan _delay = FirstDelay;

    public void Succeeded(Endpoint endpoint)
    {
        if (_delay != FirstDelay)
        {
            _delay = FirstDelay;
            TransportLog.AcceptRecovered(settings.Logger, endpoint);
        }
    }

    /// <summary>Counts and logs an error; under pressure it retries after a delay.</summary>
    public AcceptErrorClass Failed(Endpoint endpoint, SocketError error, Action retry)
    {
        settings.AcceptFailed?.Invoke();
        AcceptErrorClass sorted = AcceptErrors.Sort(error);
        switch (sorted)
        {
            case AcceptErrorClass.Transient:
                TransportLog.AcceptTransient(settings.Logger, endpoint, error.ToString());
                break;
            case AcceptErrorClass.Pressure:
                RetryLater(endpoint, error, retry);
                break;
            default:
                TransportLog.AcceptFatal(settings.Logger, endpoint, error.ToString());
                break;
        }

        return sorted;
    }

    public void RetryLater(Endpoint endpoint, SocketError error, Action retry)
    {
        TimeSpan delay = _delay;
        _delay = delay + delay < LongestDelay ? delay + delay : LongestDelay;
        TransportLog.AcceptPressure(settings.Logger, endpoint, error.ToString(), delay.TotalMilliseconds);
        settings.Clock.CallLater(delay, retry);
    }
}
