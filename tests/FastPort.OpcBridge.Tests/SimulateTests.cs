using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Xunit;

namespace FastPort.OpcBridge.Tests;

/// <summary>The command <c>simulate</c> as a user runs it.</summary>
public sealed class SimulateTests
{
    private static readonly NodeId Simulation = new(2, 90_000);
    private static readonly NodeId SetPackageSize = new(2, 90_001);
    private static readonly NodeId GetPackage = new(2, 90_002);

    [Fact]
    public async Task It_serves_2000_variables_and_ends_when_it_is_terminated()
    {
        await using var bridge = BridgeProcess.Simulate();
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(await bridge.ListeningAsync());

        DataValue[] values = await client.ReadAsync([.. Enumerable.Range(1000, 2000).Select(static i => new NodeId(2, (uint)i))]);

        Assert.All(values, static v => Assert.Equal(StatusCodes.Good, v.Status));
        Assert.Equal(999, values[999].Value.Get<int>());
        Assert.Equal(799.0 / 800, values[1799].Value.Get<double>());
        Assert.Equal("tag-value-000199", values[1999].Value.Get<string>());
        Assert.Equal(0, await bridge.TerminateAsync());
        Assert.Empty(bridge.Errors);
    }

    [Fact]
    public async Task Its_values_change_at_a_rate()
    {
        await using var bridge = BridgeProcess.Simulate("--change-rate", "20000");
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(await bridge.ListeningAsync());

        // The first and the last variable, in their third generation or a later one. Read on until then.
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        int first;
        string? last;
        do
        {
            DataValue[] values = await client.ReadAsync([new NodeId(2, 1000), new NodeId(2, 2999)], limit.Token);
            (first, last) = (values[0].Value.Get<int>(), values[1].Value.Get<string>());
            Assert.Equal(0, first % 1000);
        }
        while (first < 3000 || string.CompareOrdinal(last, "tag-value-000799") < 0);
        Assert.Equal(0, await bridge.TerminateAsync());
    }

    [Fact]
    public async Task A_package_is_as_large_as_messages_may_be()
    {
        await using var bridge = BridgeProcess.Simulate();
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(await bridge.ListeningAsync());
        Assert.Equal(StatusCodes.Good, (await client.CallAsync(Simulation, SetPackageSize, [20_000_000u])).Status);
        Assert.Equal(20_000_000, (await client.CallAsync(Simulation, GetPackage, [])).Outputs[0].Get<ByteString>().Length);

        await using var small = BridgeProcess.Simulate("--max-message-mib", "1");
        await using OpcUaClient other = await OpcUaClient.ConnectAsync(await small.ListeningAsync());
        Assert.Equal(StatusCodes.Good, (await other.CallAsync(Simulation, SetPackageSize, [2_000_000u])).Status);
        OpcUaException tooLarge = await Assert.ThrowsAsync<OpcUaException>(() => other.CallAsync(Simulation, GetPackage, []).AsTask());
        Assert.Equal(StatusCodes.BadResponseTooLarge, tooLarge.Status);
    }

    [Fact]
    public async Task Policies_and_modes_are_those_of_the_options()
    {
        await using var bridge = BridgeProcess.Simulate(
            "--security-policy", "Aes256_Sha256_RsaPss", "--security-mode", "signandencrypt", "--unsafe-trust-all");
        string url = await bridge.ListeningAsync();
        OpcUaClientOptions Options(OpcUaSecurityPolicy policy, MessageSecurityMode mode)
        {
            var options = new OpcUaClientOptions { SecurityPolicy = policy, SecurityMode = mode };
            options.Certificates.Directory = Path.Combine(bridge.Directory, "client");
            options.Certificates.UnsafeTrustAll = true;
            return options;
        }

        await using OpcUaClient client = await OpcUaClient.ConnectAsync(
            url, Options(OpcUaSecurityPolicy.Aes256Sha256RsaPss, MessageSecurityMode.SignAndEncrypt));
        Assert.Equal(0, (await client.ReadAsync([new NodeId(2, 1000)]))[0].Value.Get<int>());

        OpcUaException signed = await Assert.ThrowsAsync<OpcUaException>(
            () => OpcUaClient.ConnectAsync(url, Options(OpcUaSecurityPolicy.Aes256Sha256RsaPss, MessageSecurityMode.Sign)));
        Assert.Contains("does not offer Aes256Sha256RsaPss with Sign;", signed.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<OpcUaException>(
            () => OpcUaClient.ConnectAsync(url, Options(OpcUaSecurityPolicy.Basic256Sha256, MessageSecurityMode.SignAndEncrypt)));
        await Assert.ThrowsAsync<OpcUaException>(() => OpcUaClient.ConnectAsync(url));
    }

    [Fact]
    public async Task A_certificate_is_kept_for_the_administrator_unless_everybody_is_trusted()
    {
        await using var bridge = BridgeProcess.Simulate();
        string url = await bridge.ListeningAsync();
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = Path.Combine(bridge.Directory, "client");
        options.Certificates.UnsafeTrustAll = true;

        await Assert.ThrowsAsync<OpcUaException>(() => OpcUaClient.ConnectAsync(url, options));

        Assert.Single(Directory.EnumerateFiles(Path.Combine(bridge.Directory, "pki", "rejected")));
    }

    [Fact]
    public async Task Users_come_from_the_command_line_and_from_a_file()
    {
        string folder = Directory.CreateTempSubdirectory("users-").FullName;
        string file = Path.Combine(folder, "users");
        await File.WriteAllTextAsync(file, "# the night shift\n\nbob:with:colon\n");
        await using (var bridge = BridgeProcess.Simulate("--user", "ann:secret", "--users", file, "--no-anonymous"))
        {
            string url = await bridge.ListeningAsync();

            await ConnectAsync(url, "ann", "secret");
            await ConnectAsync(url, "bob", "with:colon");
            foreach ((string? name, string password) in ((string?, string)[])[("ann", "with:colon"), ("eve", "secret"), (null, "")])
            {
                await Assert.ThrowsAsync<OpcUaException>(() => ConnectAsync(url, name, password));
            }
        }

        Directory.Delete(folder, recursive: true);
    }

    [Fact]
    public async Task Sessions_are_limited()
    {
        await using var bridge = BridgeProcess.Simulate("--max-sessions", "1");
        string url = await bridge.ListeningAsync();
        await using OpcUaClient first = await OpcUaClient.ConnectAsync(url);

        OpcUaException second = await Assert.ThrowsAsync<OpcUaException>(() => OpcUaClient.ConnectAsync(url));

        Assert.Equal(StatusCodes.BadTooManySessions, second.Status);
    }

    [Theory]
    [InlineData("--change-rate", "-1", "--change-rate is '-1'; give a whole number from 0 to 10000000.")]
    [InlineData("--max-message-mib", "1025", "--max-message-mib is '1025'; give a whole number from 1 to 1024.")]
    [InlineData("--security-policy", "Basic128Rsa15", "--security-policy is 'Basic128Rsa15'; give None, Basic256Sha256, ")]
    [InlineData("--security-mode", "None", "--security-mode is 'None'; give Sign or SignAndEncrypt.")]
    [InlineData("--user", "secret", "--user number 1 is not a user; give NAME:PASSWORD.")]
    [InlineData("--users", "no-such-file", "--users: Could not find file")]
    [InlineData("--no-anonymous", null, "--no-anonymous without --user and --users lets nobody in.")]
    public async Task A_wrong_option_is_exit_code_2_with_a_sentence(string option, string? value, string sentence)
    {
        await using var bridge = BridgeProcess.Simulate(value is null ? [option] : [option, value]);

        Assert.Equal(2, await bridge.ExitAsync());
        Assert.Contains(sentence, bridge.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_wrong_configuration_is_exit_code_2_with_a_sentence_for_each_problem()
    {
        await using var bridge = BridgeProcess.Start(
            ["simulate", "--listen", "opc.tcp://127.0.0.1:0"],
            ("OpcUaServer__MaxNodesPerRead", "many"), ("OpcUaServer__MaxNodesPerRaed", "5"));

        Assert.Equal(2, await bridge.ExitAsync());
        Assert.Contains("OpcUaServer:MaxNodesPerRead is 'many'; ", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("OpcUaServer:MaxNodesPerRaed is not a known key; known keys: ", bridge.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Certificates_that_cannot_be_kept_are_exit_code_1_with_a_sentence()
    {
        await using var bridge = BridgeProcess.Simulate("--certificates", Path.Combine(Environment.ProcessPath!, "pki"));

        Assert.Equal(1, await bridge.ExitAsync());
        Assert.Contains("The certificates cannot be used: ", bridge.Errors, StringComparison.Ordinal);
    }

    private static async Task ConnectAsync(string url, string? user, string password)
    {
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(
            url, new OpcUaClientOptions { UserName = user, Password = password, Certificates = { UnsafeTrustAll = true } });
    }
}
