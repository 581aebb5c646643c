using FastPort.OpcUa.Client;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Users with name and password: accepted, refused, and never sent in the clear.</summary>
public sealed class UserTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData(OpcUaSecurityPolicy.None, MessageSecurityMode.None)]
    [InlineData(OpcUaSecurityPolicy.Basic256Sha256, MessageSecurityMode.Sign)]
    [InlineData(OpcUaSecurityPolicy.Aes256Sha256RsaPss, MessageSecurityMode.SignAndEncrypt)]
    public async Task A_user_with_the_right_password_gets_a_session(OpcUaSecurityPolicy policy, MessageSecurityMode mode)
    {
        // Longer than a block of the server's key.
        string password = new string('p', 300) + "äöü";
        await using TestServer server = await StartAsync(policy, (user, given) => user == "anna" && given == password);

        await using OpcUaClient client = await ConnectAsync(server, policy, mode, "anna", password);
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => ConnectAsync(server, policy, mode, "anna", "wrong"));
        Assert.Equal(StatusCodes.BadUserAccessDenied, e.Status);
    }

    [Fact]
    public async Task Without_a_user_there_is_no_session_where_anonymous_clients_are_not_allowed()
    {
        await using TestServer server = await StartAsync(OpcUaSecurityPolicy.None, static (_, _) => true, allowAnonymous: false);

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, null, string.Empty));

        Assert.Equal(StatusCodes.BadIdentityTokenRejected, e.Status);
    }

    [Fact]
    public async Task A_check_that_throws_refuses_the_user()
    {
        await using TestServer server = await StartAsync(
            OpcUaSecurityPolicy.None, static (_, _) => throw new InvalidOperationException("on purpose"));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, "anna", "x"));

        Assert.Equal(StatusCodes.BadUserAccessDenied, e.Status);
    }

    [Fact]
    public async Task A_server_without_users_is_not_told_the_password()
    {
        await using TestServer server = await TestServer.StartAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, "anna", "x"));

        Assert.Equal(StatusCodes.BadIdentityTokenRejected, e.Status);
    }

    private async Task<TestServer> StartAsync(
        OpcUaSecurityPolicy policy, Func<string, string, bool> check, bool allowAnonymous = true)
    {
        return await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = [.. new[] { OpcUaSecurityPolicy.None, policy }.Distinct()];
            o.AllowAnonymous = allowAnonymous;
            o.Certificates.Directory = Path.Combine(_folder, "server");
            o.Certificates.UnsafeTrustAll = true;
            o.ValidateUser = async (user, password, _) =>
            {
                await Task.Yield();
                return check(user, password);
            };
        });
    }

    private Task<OpcUaClient> ConnectAsync(
        TestServer server, OpcUaSecurityPolicy policy, MessageSecurityMode mode, string? user, string password)
    {
        var options = new OpcUaClientOptions { SecurityPolicy = policy, SecurityMode = mode, UserName = user, Password = password };
        options.Certificates.Directory = Path.Combine(_folder, "client");
        options.Certificates.UnsafeTrustAll = true;
        return server.ConnectAsync(options);
    }
}
