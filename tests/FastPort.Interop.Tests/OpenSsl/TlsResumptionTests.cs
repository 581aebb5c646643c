using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>Sessions that OpenSSL's client resumes.</summary>
public sealed class TlsResumptionTests
{
    private const string Ticket13 = "Post-Handshake New Session Ticket arrived:";
    private const string Connected = "Verify return code: 0 (ok)";

    [OpenSslFact]
    public async Task A_session_of_tls_1_3_is_resumed()
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartAsync();
        string session = server.Files["session.pem"];

        string first = await ConnectAsync(server, 0, Ticket13, "-alpn", "fastport/1", "-sess_out", session);
        string second = await ConnectAsync(server, 1, Connected, "-alpn", "fastport/1", "-sess_in", session);

        Assert.Contains("New, TLSv1.3, ", first, StringComparison.Ordinal);
        Assert.Contains("Reused, TLSv1.3, ", second, StringComparison.Ordinal);
        Assert.Contains("ALPN protocol: fastport/1", second, StringComparison.Ordinal);
        Assert.Equal("fastport/1", (await server.SessionAsync(1)).Tls!.ApplicationProtocol);
    }

    [OpenSslFact]
    public async Task A_session_of_tls_1_2_is_resumed_or_made_anew()
    {
        await using TlsServerForOpenSsl server = await TlsServerForOpenSsl.StartWithTls12Async();
        string session = server.Files["session.pem"];

        await ConnectAsync(server, 0, Connected, "-tls1_2", "-sess_out", session);
        string second = await ConnectAsync(server, 1, Connected, "-tls1_2", "-sess_in", session);

        Assert.Contains(", TLSv1.2, ", second, StringComparison.Ordinal);
        Assert.Contains("Verification: OK", second, StringComparison.Ordinal);
        await server.SessionAsync(1);
    }

    [OpenSslTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Where_certificates_are_required_no_session_is_resumed(bool withIntermediate)
    {
        await using TlsServerForOpenSsl server = await StartWithClientCertificatesAsync();
        TestAuthority authority = withIntermediate ? server.Authority.CreateIntermediate() : server.Authority;
        string[] certificate = server.WriteClient(authority.Issue("panel-7", client: true));
        string session = server.Files["session.pem"];

        await ConnectAsync(server, 0, Connected, [.. certificate, "-sess_out", session]);
        if (File.Exists(session))
        {
            // A ticket of a handshake that the server could not know again.
            certificate = [.. certificate, "-sess_in", session];
        }

        string second = await ConnectAsync(server, 1, Connected, certificate);

        Assert.Contains("New, TLSv1.3, ", second, StringComparison.Ordinal);
        TlsInfo seen = (await server.SessionAsync(1)).Tls!;
        Assert.Equal("CN=panel-7", seen.PeerCertificate!.Subject);
    }

    [OpenSslFact]
    public async Task A_session_of_another_server_is_not_resumed()
    {
        await using TlsServerForOpenSsl lenient = await TlsServerForOpenSsl.StartAsync();
        await using TlsServerForOpenSsl strict = await StartWithClientCertificatesAsync();
        string session = lenient.Files["session.pem"];
        await ConnectAsync(lenient, 0, Ticket13, "-sess_out", session);

        await using OpenSslProcess client = strict.Connect("-sess_in", session);

        Assert.Contains("New, TLSv1.3, ", await client.EndsAsync(), StringComparison.Ordinal);
        Assert.Contains("it presented none, but one is required", await strict.RejectedAsync(), StringComparison.Ordinal);
    }

    // Connects, waits until it has said this and the server has its session, and ends; returns all that it has said.
    private static async Task<string> ConnectAsync(TlsServerForOpenSsl server, int index, string says, params string[] arguments)
    {
        await using OpenSslProcess client = server.Connect(arguments);
        await client.SaysAsync(says);
        await server.SessionAsync(index);
        return await client.FinishAsync();
    }

    private static Task<TlsServerForOpenSsl> StartWithClientCertificatesAsync() =>
        TlsServerForOpenSsl.StartAsync(static (server, options) =>
        {
            options.ClientCertificates = ClientCertificateMode.Required;
            options.ClientAuthorityFile = server.Files["ca.pem"];
        });
}
