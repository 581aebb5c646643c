using System.Net;
using FastPort.Hosting;
using FastPort.Logging;
using FastPort.Proxies;
using FastPort.Telemetry;
using FastPort.Tls;
using FastPort.WebSockets;

namespace FastPort.Connections;

/// <content>The stages of a connection before its protocol, such as TLS: bounded in time, and in number also for one address.</content>
public sealed partial class ConnectionServer
{
    // Has room for two names of a certificate and the advice.
    private const int MaxHandshakeFailureLength = 1024;

    // One address must not take all places: it would keep all others out for as long as its stages take.
    private readonly Admission _inStages;

    /// <summary>Connections whose stages run, including stages that ignore their token.</summary>
    internal int ConnectionsInStages => _inStages.Count;

    private async Task<Connection?> RunStagesAsync(AcceptedConnection accepted)
    {
        EndPoint? counted = accepted.Address;
        if (_inStages.TryEnter(counted, out _) is { } full)
        {
            RejectStage(accepted, full);
            return null;
        }

        Task<Connection?> running = Task.FromResult<Connection?>(null);
        TimeSpan limit = _options.StageTimeout > TimeSpan.Zero ? _options.StageTimeout : Timeout.InfiniteTimeSpan;
        var end = new CancellationTokenSource();
        using var deadline = new Deadline(end, limit, _clock!);
        using CancellationTokenRegistration stopping =
            _stop.Token.UnsafeRegister(static end => _ = ((CancellationTokenSource)end!).CancelAsync(), end);
        try
        {
            Connection top = accepted.Connection;
            foreach (ConnectionStage stage in accepted.Stages)
            {
                // The wait ends with the token, even if the stage ignores it: a result after the connection's end is useless.
                running = stage(top, end.Token).AsTask();
                NoContext.Restore();
                Connection? next = await running.WaitAsync(end.Token).ConfigureAwait(false);
                if (next is null)
                {
                    Reject(accepted, ConnectionRejection.Refused);
                    return null;
                }

                top = next;
                if (accepted.TryMove(_admission, top.RemoteEndPoint, out string? why) is { } refused)
                {
                    Reject(accepted, refused, why);
                    return null;
                }

                if (accepted.Address is var moved && !Equals(moved, counted))
                {
                    if (_inStages.TryMove(counted, moved, out _) is { } fullThere)
                    {
                        RejectStage(accepted, fullThere);
                        return null;
                    }

                    counted = moved;
                }
            }

            return top;
        }
        catch (Exception) when (end.IsCancellationRequested)
        {
            Reject(accepted, _closing ? ConnectionRejection.ShuttingDown : ConnectionRejection.StageTimeout);
            return null;
        }
        catch (PeerLeftException e)
        {
            // As on an endpoint without stages: a port probe is not a rejection, and no reason for an alarm.
            ServerLog.StageFailed(_logger, accepted.Source, e);
            accepted.Connection.Abort(CloseReason.PeerClosed);
            return null;
        }
        catch (HandshakeFailedException e)
        {
            // It may name the subject and the issuer of the peer's certificate, which the peer has chosen.
            Reject(accepted, ConnectionRejection.TlsFailed, PeerText.Escape(e.Message, MaxHandshakeFailureLength));
            return null;
        }
        catch (WebSocketRefusedException e)
        {
            Reject(accepted, ConnectionRejection.WebSocketRefused, e.Message);
            return null;
        }
        catch (ProxyHeaderException e)
        {
            Reject(accepted, ConnectionRejection.StageFailed, e.Message);
            return null;
        }
        catch (Exception e)
        {
            ServerLog.StageFailed(_logger, accepted.Source, e);
            Reject(accepted, ConnectionRejection.StageFailed);
            return null;
        }
        finally
        {
            if (running.IsCompleted)
            {
                LeaveStages(running, counted);
            }
            else
            {
                // A stage that ignores its token is counted until it ends: otherwise the number of running stages would be unbounded.
                _ = running.ContinueWith(
                    (ended, counted) => LeaveStages(ended, (EndPoint?)counted),
                    counted,
                    CancellationToken.None,
                    TaskContinuationOptions.ExecuteSynchronously,
                    TaskScheduler.Default);
            }
        }
    }

    // An exception is observed: the connection's end has reported it, or reports another reason.
    private void LeaveStages(Task ended, EndPoint? counted)
    {
        _ = ended.Exception;
        _inStages.Leave(counted);
    }

    private ValueTask<Connection?> ReadProxyHeaderAsync(Connection connection, CancellationToken cancellationToken) =>
        _proxies.ReadHeaderAsync(connection, _handshakes, cancellationToken);

    // The server's own stages need no thread of the pool. The application's do: they may take as long as they like.
    private static ConnectionStage OnThreadPool(ConnectionStage stage) => async (connection, cancellationToken) =>
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        return await stage(connection, cancellationToken).ConfigureAwait(false);
    };

    private void RejectStage(AcceptedConnection accepted, ConnectionRejection full) => Reject(
        accepted,
        ConnectionRejection.StageLimit,
        full == ConnectionRejection.AddressLimit
            ? $"{_options.Section}:MaxConnectionsInStages is {_options.MaxConnectionsInStages}, {_inStages.MaxPerAddress} for one address"
            : null);
}
