using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace FastPort.Aspire.Hosting;

/// <summary>
/// Whether the server answers. A connection alone proves nothing: the orchestrator's proxy in front of the server accepts it before the
/// server listens. The check sends a Ping, which needs no Hello.
/// </summary>
internal sealed class ServerAnswersCheck(FastPortServerResource server) : IHealthCheck
{
    /// <summary>The longest that one check may take.</summary>
    public static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);

    private const byte Version = 1;
    private const byte Correlation = 1;
    private const byte Reply = 0x01;

    // docs/protocol.md: length, type Ping, flags, version, correlation.
    private static readonly byte[] Ping = [8, 0, 0, 0, 2, 0, 0, Version, Correlation, 0, 0, 0];

    public async Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
    {
        EndpointReference endpoint = server.PrimaryEndpoint;
        if (!endpoint.IsAllocated)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, "The endpoint has no port yet.");
        }

        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync(endpoint.Host, endpoint.Port, cancellationToken).ConfigureAwait(false);
            NetworkStream stream = client.GetStream();
            bool answers = endpoint.Scheme == "tls"
                ? await AnswersEncryptedAsync(stream, endpoint.Host, cancellationToken).ConfigureAwait(false)
                : await AnswersAsync(stream, cancellationToken).ConfigureAwait(false);
            return answers
                ? HealthCheckResult.Healthy($"Answers at {endpoint.Url}.")
                : new HealthCheckResult(
                    context.Registration.FailureStatus, $"The program that answers at {endpoint.Url} is not a FastPort server.");
        }
        catch (Exception e) when (e is SocketException or IOException or AuthenticationException)
        {
            return new HealthCheckResult(context.Registration.FailureStatus, $"No answer at {endpoint.Url}: {e.Message}", e);
        }
    }

    // A refusal is an answer, too.
    private static async Task<bool> AnswersAsync(Stream stream, CancellationToken cancellationToken)
    {
        await stream.WriteAsync(Ping, cancellationToken).ConfigureAwait(false);
        byte[] header = new byte[Ping.Length];
        await stream.ReadExactlyAsync(header, cancellationToken).ConfigureAwait(false);
        return (header[6] & Reply) != 0 && header[7] == Version && header[8] == Correlation;
    }

    private static async Task<bool> AnswersEncryptedAsync(Stream stream, string host, CancellationToken cancellationToken)
    {
        var options = new SslClientAuthenticationOptions
        {
            TargetHost = host,
#pragma warning disable CA5359 // The check trusts every certificate: it sends no secret, and the server's clients verify who it is.
            RemoteCertificateValidationCallback = static (_, _, _, _) => true,
#pragma warning restore CA5359
        };
        using var encrypted = new SslStream(stream, leaveInnerStreamOpen: true);
        await encrypted.AuthenticateAsClientAsync(options, cancellationToken).ConfigureAwait(false);
        try
        {
            bool answers = await AnswersAsync(encrypted, cancellationToken).ConfigureAwait(false);

            // The server warns of a connection that ends without it.
            await encrypted.ShutdownAsync().ConfigureAwait(false);
            return answers;
        }
        catch (Exception e) when (e is IOException or AuthenticationException)
        {
            // A server that requires certificates of its clients refuses the check after the handshake.
            return true;
        }
    }
}
