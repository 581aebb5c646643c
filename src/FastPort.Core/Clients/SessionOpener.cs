using System.Buffers;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;
using FastPort.Transports;

namespace FastPort.Clients;

/// <summary>
/// Attempts to open a session: connect, Hello, Welcome, within <see cref="ClientOptions.ConnectTimeout"/>. Used by one task at a
/// time.
/// </summary>
internal sealed class SessionOpener(FastPortClientOptions options, SessionSettings settings, ITransportConnector connector)
{
    /// <summary>Returns a session after its Welcome. If this fails, the connection has ended before the exception is thrown.</summary>
    /// <param name="token">For the Hello.</param>
    /// <param name="cancellationToken">Stops the attempt.</param>
    public async Task<Session> OpenAsync(string token, CancellationToken cancellationToken)
    {
        using var attempt = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var deadline = new CancellationTokenSource();
        using var timer = new Deadline(deadline, options.ConnectTimeout, settings.Clock);
        using CancellationTokenRegistration _ = deadline.Token.UnsafeRegister(static s => ((CancellationTokenSource)s!).Cancel(), attempt);
        Connection? connection = null;
        try
        {
            connection = await connector.ConnectAsync(attempt.Token).ConfigureAwait(false);
            var protocol = new FrameProtocol(settings, connection);
            connection.Start(protocol);
            protocol.Welcomed(await SayHello(protocol, token).WaitAsync(attempt.Token).ConfigureAwait(false));
            return protocol.Session;
        }
        catch (OperationCanceledException e) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            await AbortAsync(connection).ConfigureAwait(false);
            throw new TimeoutException(
                $"{options.Endpoint} did not answer within {options.ConnectTimeout.TotalSeconds:0.###} s. Is it a FastPort server?", e);
        }
        catch (Exception e) when (
            connection?.Tls is not null && e is EndpointException or RequestFailedException { Failure: RequestFailure.ConnectionLost })
        {
            // With TLS 1.3 a server checks the client's certificate after the client's handshake has ended.
            await AbortAsync(connection).ConfigureAwait(false);
            throw new EndpointException(
                Endpoint.Parse(options.Endpoint),
                $"Cannot connect to {options.Endpoint}: the server ended the connection after the TLS handshake; its log says why. "
                    + (options.Tls.CertificateFile.Length == 0
                        ? "It may require a client certificate: set Tls:CertificateFile."
                        : "It may have refused this client's certificate."),
                e);
        }
        catch
        {
            await AbortAsync(connection).ConfigureAwait(false);
            throw;
        }
    }

    private Task<WelcomeBody> SayHello(FrameProtocol protocol, string token)
    {
        var pending = AwaitedReply<WelcomeBody>.Rent((scoped in InboundReply reply) => ReadWelcome(protocol, in reply));
        var hello = new HelloBody(options.RoutingId, token, options.ClientName, Extensions.Known);
        return protocol.Requests.TrySend(ControlType.Hello, in hello, pending, timing: false, TimeSpan.Zero, out uint _) switch
        {
            SendStatus.Queued => pending.AsTask(),
            SendStatus.TooLarge => throw new FastPortOptionsException(
                [$"The Hello has {hello.Size} bytes; the frame limit allows {FrameLimits.MaxBodyBytes(options.Session.MaxFrameBytes)}. "
                    + $"Shorten RoutingId, the token or ClientName."]),
            _ => throw new EndpointException(
                Endpoint.Parse(options.Endpoint), $"The connection to {options.Endpoint} was lost before Hello was sent."),
        };
    }

    // On the loop, before it reads the next frame: the agreed settings apply from that frame on.
    private static WelcomeBody ReadWelcome(FrameProtocol protocol, scoped in InboundReply reply)
    {
        byte[] body = reply.Body.ToArray();
        if (!WelcomeBody.TryRead(body, out WelcomeBody welcome))
        {
            throw new RequestFailedException(ErrorCode.MalformedBody, "The server's Welcome is malformed.");
        }

        protocol.Agree(welcome.Extensions);
        return welcome;
    }

    private static async Task AbortAsync(Connection? connection)
    {
        if (connection is not null)
        {
            connection.Abort(CloseReason.LocalClosed);
            await connection.Closed.ConfigureAwait(false);
        }
    }
}
