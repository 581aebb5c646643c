using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Redis.Tests.Support;
using Xunit;

namespace FastPort.Redis.Tests;

/// <summary>Redis by either protocol, with TLS, and with a user of its own.</summary>
public sealed class DeploymentTests
{
    [RedisTheory]
    [InlineData("resp2")]
    [InlineData("resp3")]
    public async Task Nodes_work_by_either_protocol(string protocol)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync();
        await using TwoNodes nodes = await TwoNodes.StartAsync($"{redis.Connection},protocol={protocol}", Node.LongLease);

        await nodes.RelayAsync();
        await nodes.DoTheRestAsync();
    }

    [RedisFact]
    public async Task Nodes_work_over_TLS_as_a_user_with_the_documented_permissions()
    {
        using var directory = new TemporaryDirectory();
        TestAuthority authority = TestCertificates.CreateAuthority();
        authority.WritePem(directory["ca.pem"]);
        TestCertificate certificate = authority.Issue("redis", ip: ["127.0.0.1"]);
        certificate.WritePem(directory["redis.pem"]);
        certificate.WriteKey(directory["redis.key"]);
        await using RedisProcess redis = await RedisProcess.StartAsync(port =>
        [
            "--port", "0", "--tls-port", RedisProcess.Text(port), "--tls-auth-clients", "no", "--tls-ca-cert-file", directory["ca.pem"],
            "--tls-cert-file", directory["redis.pem"], "--tls-key-file", directory["redis.key"],
            .. RedisUser.Options(RedisUser.Documented),
        ]);

        string connection = $"{redis.Connection},ssl=true,{RedisUser.Credentials}";

        BackplaneException failure = await Assert.ThrowsAsync<BackplaneException>(() => Node.StartAsync(connection, "a"));
        Assert.Contains("The remote certificate is invalid", failure.Message, StringComparison.Ordinal);

        // Of this process: no other test uses TLS to Redis.
        Environment.SetEnvironmentVariable("SERedis_IssuerCertPath", directory["ca.pem"]);
        await using TwoNodes nodes = await TwoNodes.StartAsync(connection, Node.LongLease);

        await nodes.RelayAsync();
        await nodes.DoTheRestAsync();
        await nodes.LeaveAsync();
    }

    [RedisTheory]
    [InlineData("-publish")]
    [InlineData("-subscribe")]
    [InlineData("-eval -evalsha")]
    [InlineData("-get")]
    [InlineData("resetkeys ~other:*")]
    [InlineData("resetkeys ~{fastport:*")]
    [InlineData("resetkeys ~fastport:*")]
    [InlineData("resetchannels &other:*")]
    public async Task A_missing_permission_is_said_at_the_start(string change)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync(RedisUser.Options($"{RedisUser.Documented} {change}"));

        BackplaneException failure = await Assert.ThrowsAsync<BackplaneException>(
            () => Node.StartAsync($"{redis.Connection},{RedisUser.Credentials}", "a"));

        Assert.EndsWith(
            " A permission of the Redis user is missing; nodes need ~fastport:* ~{fastport:* &fastport:* +@all -@admin -@dangerous +info "
            + "(ACL SETUSER).",
            failure.Message,
            StringComparison.Ordinal);
    }
}
