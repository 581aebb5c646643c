using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>OpenSSL's client with certificates of its own, good and bad, against a server that requires one.</summary>
public sealed class TlsClientCertificateTests
{
    private const string Connected = "Verify return code: 0 (ok)";

    public static TheoryData<string, string> Versions => new() { { "-tls1_3", "TLSv1.3" }, { "-tls1_2", "TLSv1.2" } };

    [OpenSslTheory]
    [MemberData(nameof(Versions))]
    public async Task A_valid_one_is_accepted_and_known_to_the_session(string version, string name)
    {
        await using TlsServerForOpenSsl server = await StartAsync();
        TestAuthority between = server.Authority.CreateIntermediate();
        foreach ((int index, TestAuthority authority) in ((TestAuthority[])[server.Authority, between]).Index())
        {
            await using OpenSslProcess client = server.Connect([version, .. server.WriteClient(authority.Issue("panel-7", client: true))]);

            string said = await client.SaysAsync(Connected);

            Assert.Contains($"New, {name}, ", said, StringComparison.Ordinal);
            Assert.Equal("CN=panel-7", (await server.SessionAsync(index)).Tls!.PeerCertificate!.Subject);
        }
    }

    [OpenSslTheory]
    [MemberData(nameof(Versions))]
    public Task None_is_refused(string version, string name) =>
        IsRefusedAsync(version, name, static _ => null, "it presented none, but one is required");

    [OpenSslTheory]
    [MemberData(nameof(Versions))]
    public Task One_of_another_authority_is_refused(string version, string name) => IsRefusedAsync(
        version, name, static _ => TestCertificates.CreateAuthority("Forger").Issue("panel-7", client: true),
        "signed by 'CN=Forger', which is not trusted here");

    [OpenSslTheory]
    [MemberData(nameof(Versions))]
    public Task One_of_another_authority_with_the_same_name_is_refused(string version, string name) => IsRefusedAsync(
        version, name, static _ => TestCertificates.CreateAuthority().Issue("panel-7", client: true), "its certificate was refused");

    [OpenSslTheory]
    [MemberData(nameof(Versions))]
    public Task One_that_has_expired_is_refused(string version, string name) => IsRefusedAsync(
        version, name,
        static authority => authority.Issue("panel-7", client: true, notAfter: new DateTimeOffset(2020, 1, 2, 3, 4, 5, TimeSpan.Zero)),
        "expired on 2020-01-02 03:04:05Z");

    [OpenSslTheory]
    [MemberData(nameof(Versions))]
    public Task One_for_servers_only_is_refused(string version, string name) => IsRefusedAsync(
        version, name, static authority => authority.Issue("panel-7", dns: ["panel-7"], client: false), "is not for this use");

    private static async Task IsRefusedAsync(string version, string name, Func<TestAuthority, TestCertificate?> issue, string reason)
    {
        await using TlsServerForOpenSsl server = await StartAsync();
        TestCertificate? certificate = issue(server.Authority);
        await using OpenSslProcess client = server.Connect([version, .. certificate is null ? [] : server.WriteClient(certificate)]);

        // The client's handshake has ended by then: the runtime checks certificates afterwards, and ends the connection without an alert.
        Assert.Contains(name, await client.EndsAsync(), StringComparison.Ordinal);
        Assert.Contains(reason, await server.RejectedAsync(), StringComparison.Ordinal);
        string good = server.Files["good.pem"];
        server.Authority.Issue("good", client: true).WritePem(good, withKey: true);
        await server.StillServesAsync(good);
    }

    private static Task<TlsServerForOpenSsl> StartAsync() => TlsServerForOpenSsl.StartAsync(static (server, options) =>
    {
        options.AllowTls12 = true;
        options.ClientCertificates = ClientCertificateMode.Required;
        options.ClientAuthorityFile = server.Files["ca.pem"];
    });
}
