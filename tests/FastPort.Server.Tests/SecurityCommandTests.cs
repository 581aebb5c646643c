using Xunit;

namespace FastPort.Server.Tests;

/// <summary>The commands that manage users and check policies, and a server that uses both.</summary>
public sealed class SecurityCommandTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    private string Users => Path.Combine(_directory.Path, "users");

    private string Policy => Path.Combine(_directory.Path, "policy.json");

    [Fact]
    public async Task A_user_is_set_from_standard_input_and_removed()
    {
        await using (ServerProcess set = ServerProcess.StartClient(["users", "set", Users, "anna", "--role", "operator"]))
        {
            await set.TypeAsync("a password");
            Assert.Equal(0, await set.ExitAsync());
            Assert.DoesNotContain("a password", set.Output + set.Errors, StringComparison.Ordinal);
        }

        string line = Assert.Single(await File.ReadAllLinesAsync(Users, TestContext.Current.CancellationToken));
        Assert.Matches(@"^anna:\$argon2id\$v=19\$[^:]+:operator$", line);
        await using (ServerProcess remove = ServerProcess.StartClient(["users", "remove", Users, "anna"]))
        {
            Assert.Equal(0, await remove.ExitAsync());
        }

        await using ServerProcess again = ServerProcess.StartClient(["users", "remove", Users, "anna"]);
        Assert.Equal(1, await again.ExitAsync());
        Assert.Contains("has no user 'anna'", again.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_name_that_cannot_be_one_is_exit_code_2()
    {
        await using ServerProcess set = ServerProcess.StartClient(["users", "set", Users, "a:b"]);
        await set.TypeAsync("secret");

        Assert.Equal(2, await set.ExitAsync());

        Assert.StartsWith("'a:b' cannot be a user's name", set.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("Parameter", set.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_policy_is_checked_and_shown()
    {
        await File.WriteAllTextAsync(
            Policy, """{ "rules": [ { "for": ["role:operator"], "send": ["0x0100"] } ] }""", TestContext.Current.CancellationToken);
        await using (ServerProcess good = ServerProcess.StartClient(["policy", "check", Policy, "--user", "anna", "--role", "operator"]))
        {
            Assert.Equal(0, await good.ExitAsync());
            Assert.Contains("anna may:", good.Output, StringComparison.Ordinal);
            Assert.Contains("send: 0x0100", good.Output, StringComparison.Ordinal);
        }

        await File.WriteAllTextAsync(Policy, """{ "rules": [ { "for": ["me"] } ] }""", TestContext.Current.CancellationToken);
        await using ServerProcess bad = ServerProcess.StartClient(["policy", "check", Policy]);
        Assert.Equal(1, await bad.ExitAsync());
        Assert.Contains("rules[0].for has \"me\"", bad.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_file_that_cannot_be_used_is_exit_code_2()
    {
        await using ServerProcess server = ServerProcess.Start([], ("Security__PolicyFile", Policy));

        Assert.Equal(2, await server.ExitAsync());

        Assert.Contains($"The policy file {Policy} is not usable.", server.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_unknown_key_is_exit_code_2()
    {
        await using ServerProcess server = ServerProcess.Start([], ("Security__PolicyFiles", Policy));

        Assert.Equal(2, await server.ExitAsync());

        Assert.Contains("PolicyFiles", server.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Bans_are_added_listed_and_lifted_while_a_server_uses_them()
    {
        string bans = Path.Combine(_directory.Path, "bans");
        await using ServerProcess server = ServerProcess.Start(
            ["--listen", "tcp://127.0.0.1:0"], ("Security__BansFile", bans), ("Security__ReloadInterval", "00:00:01"));
        await server.ListeningAsync();
        Assert.True(File.Exists(bans));

        string added = await RunAsync("add", bans, "192.0.2.7", "--for", "00:30:00");
        Assert.StartsWith("192.0.2.7 is banned until ", added, StringComparison.Ordinal);
        await RunAsync("add", bans, "user:anna", "--reason", "shared her password");

        string[] lines = (await RunAsync("list", bans)).TrimEnd().Split('\n');
        Assert.Collection(
            lines,
            static line => Assert.StartsWith("192.0.2.7 is banned until ", line, StringComparison.Ordinal),
            static line => Assert.EndsWith("Z: shared her password", line, StringComparison.Ordinal));
        Assert.Equal("The ban of user:anna is lifted.\n", await RunAsync("lift", bans, "user:anna"));
        await using ServerProcess again = ServerProcess.StartClient(["bans", "lift", bans, "user:anna"]);
        Assert.Equal(1, await again.ExitAsync());
        Assert.Contains("has no ban of 'user:anna'", again.Errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("anna", "01:00:00", "'anna' cannot be banned; allowed: addresses")]
    [InlineData("user:anna", "soon", "--for is 'soon'; give a time as d.hh:mm:ss")]
    [InlineData("user:anna", "-01:00:00", "--for is '-01:00:00'")]
    [InlineData("user:anna", "30", "--for is '30'; give a time as d.hh:mm:ss")]
    [InlineData("user:anna", "36:00:00", "--for is '36:00:00'; give a time as d.hh:mm:ss")]
    public async Task A_ban_that_cannot_be_one_is_exit_code_2(string subject, string time, string error)
    {
        await using ServerProcess add = ServerProcess.StartClient(
            ["bans", "add", Path.Combine(_directory.Path, "bans"), subject, $"--for={time}"]);

        Assert.Equal(2, await add.ExitAsync());

        Assert.Contains(error, add.Errors, StringComparison.Ordinal);
    }

    private static async Task<string> RunAsync(params string[] arguments)
    {
        await using ServerProcess command = ServerProcess.StartClient(["bans", .. arguments]);
        Assert.Equal(0, await command.ExitAsync());
        return command.Output;
    }
}
