using System.Globalization;
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
    public async Task Nodes_work_over_a_Unix_socket()
    {
        using var directory = new TemporaryDirectory();
        await using RedisProcess redis = await RedisProcess.StartAsync("--unixsocket", directory["redis.sock"]);
        await using TwoNodes nodes = await TwoNodes.StartAsync($"!{directory["redis.sock"]}", Node.LongLease);

        await nodes.RelayAsync();
        await nodes.DoTheRestAsync();
        await nodes.LeaveAsync();
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

        string url = $"rediss://{RedisUser.Name}:{RedisUser.Password}@{redis.Connection}";
        await using Node third = await Node.StartAsync(url, "c", Node.LongLease);
        Assert.True(third.Backplane.IsConnected);
    }

    /// <summary>With characters in the password that end it in the other form of the text.</summary>
    [RedisTheory]
    [InlineData("redis://fastport:s3c%2Cre%3Dt%40@{0}", "s3c,re=t@")]
    [InlineData("redis://fastport:s3cret@{0}/0?protocol=resp2&connectTimeout=4000", "s3cret")]
    [InlineData("{0},user=fastport,password=s3c=ret", "s3c=ret")]
    public async Task Redis_may_be_named_by_a_URL(string connection, string password)
    {
        await using RedisProcess redis = await RedisProcess.StartAsync(
            ["--user", "fastport", "on", $">{password}", .. RedisUser.Documented.Split(' ')]);

        await using Node node = await Node.StartAsync(
            string.Format(CultureInfo.InvariantCulture, connection, redis.Connection), "a", Node.LongLease);

        Assert.True(node.Backplane.IsConnected);
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
            " The Redis user lacks a permission; nodes need ~fastport:* ~{fastport:* &fastport:* +@all -@admin -@dangerous +info "
            + "(ACL SETUSER).",
            failure.Message,
            StringComparison.Ordinal);
    }
}
