using System.Globalization;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Protocol;
using Xunit;
using ByteString = Google.Protobuf.ByteString;

namespace FastPort.Samples.Tests;

public sealed class SampleTests
{
    [Fact]
    public async Task GameServer_demo_moves_every_bot_and_ends_with_0()
    {
        using SampleProcess game = SampleProcess.Start("GameServer", "--demo", "--Demo:Seconds=1");

        int exitCode = await game.WaitAsync();

        Assert.True(exitCode == 0, game.Output);
        Assert.Contains("demo: 4 bots play on tcp://127.0.0.1:", game.Output, StringComparison.Ordinal);
        MatchCollection bots = Regex.Matches(
            game.Output, @"^demo: bot-\d sent (\d+) inputs, saw (\d+) snapshots and ended at \(", RegexOptions.Multiline,
            TimeSpan.FromSeconds(5));
        Assert.Equal(4, bots.Count);
        Assert.Equal(["20", "20", "20", "10"], bots.Select(b => b.Groups[1].Value));
        Assert.All(bots, b => Assert.True(int.Parse(b.Groups[2].Value, CultureInfo.InvariantCulture) > 0, b.Value));
        Assert.Matches(@"demo: [1-9]\d* ticks, ", game.Output);
        // Not the last line for sure: the console logger writes on a thread of its own.
        Assert.Contains("demo: good", game.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task GameServer_names_a_setting_that_is_out_of_range()
    {
        using SampleProcess game = SampleProcess.Start("GameServer", "--Game:TicksPerSecond=0");

        Assert.NotEqual(0, await game.WaitAsync());
        Assert.Contains("Game:TicksPerSecond is 0; allowed: 1 to 240.", game.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task IndustrialGateway_demo_gets_the_expected_answers_and_ends_with_0()
    {
        using SampleProcess gateway = SampleProcess.Start("IndustrialGateway", "--demo", "--Gateway:HealthIntervalSeconds=0.05");

        int exitCode = await gateway.WaitAsync();

        Assert.True(exitCode == 0, gateway.Output);
        Assert.Contains("demo: 300 values read", gateway.Output, StringComparison.Ordinal);
        Assert.Contains("demo: boiler.setpoint 80 -> 85, temperature 8", gateway.Output, StringComparison.Ordinal);
        Assert.Contains(
            "demo: writing an unknown tag: NotFound; writing a measured one: Forbidden", gateway.Output, StringComparison.Ordinal);
        Assert.Contains("still answered 100 values of the request in flight", gateway.Output, StringComparison.Ordinal);
        Assert.Matches(@"(?m)^health: up \d+ s, \d+ connections, \d+ messages in, \d+ out, \d+ errors, P99 [\d.]+ us", gateway.Output);
        Assert.Matches(@"(?m)^stopped: up \d+ s, 0 connections, \d+ messages in, \d+ out, 2 errors, P99 [\d.]+ us", gateway.Output);
        // Not the last line for sure: the console logger writes on a thread of its own.
        Assert.Contains("demo: good", gateway.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task TenLines_echoes_until_its_input_ends()
    {
        using SampleProcess server = SampleProcess.Start("TenLines", "tcp://127.0.0.1:0");
        await EchoAsync(await server.ReadWordAfterAsync("listening on "));

        server.CloseInput();

        Assert.Equal(0, await server.WaitAsync());
    }

    [Fact]
    public async Task OpcUaGateway_reads_writes_and_watches_what_an_OPC_UA_server_has()
    {
        using SampleProcess gateway = SampleProcess.Start("OpcUaGateway");

        Assert.True(await gateway.WaitAsync() == 0, gateway.Output);
        Assert.Contains("written: Good", gateway.Output, StringComparison.Ordinal);
        Assert.Contains("read: 85", gateway.Output, StringComparison.Ordinal);
        Assert.Contains("changed: plant/boiler/temperature 85", gateway.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task OwnMessages_prints_what_the_start_page_says()
    {
        using SampleProcess program = SampleProcess.Start("OwnMessages");

        Assert.Equal(0, await program.WaitAsync());
        Assert.Contains("at 13, 6", program.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task TenLinesHosted_echoes_until_it_is_terminated()
    {
        using SampleProcess server = SampleProcess.Start("TenLinesHosted", "--FastPort:Endpoints:0=tcp://127.0.0.1:0");
        await EchoAsync(await server.ReadWordAfterAsync("Listening on "));
        if (OperatingSystem.IsWindows())
        {
            // No signal to send there; disposing ends it.
            return;
        }

        // The host begins to listen to signals before its services start.
        await server.TerminateAsync();

        Assert.Equal(0, await server.WaitAsync());
    }

    [Fact]
    public async Task LineProtocol_answers_its_own_client_and_others()
    {
        using SampleProcess sample = SampleProcess.Start("LineProtocol", "line://127.0.0.1:0/some/path");
        string endpoint = await sample.ReadWordAfterAsync("listening on ");
        Assert.Matches(@"^line://127\.0\.0\.1:[1-9]\d*/some/path$", endpoint);
        using var peer = new TcpClient();
        await peer.ConnectAsync("127.0.0.1", FastPort.Endpoint.Parse(endpoint).Port);
        await peer.GetStream().WriteAsync("one\ntwo\n"u8.ToArray());
        using var reader = new StreamReader(peer.GetStream());
        Assert.Equal(("ONE", "TWO"), (await reader.ReadLineAsync(), await reader.ReadLineAsync()));

        sample.Type("typed");
        await sample.ReadWordAfterAsync("TYPED");
        sample.CloseInput();

        Assert.Equal(0, await sample.WaitAsync());
    }

    [Fact]
    public async Task LineProtocol_ends_when_its_connection_has_ended()
    {
        using SampleProcess sample = SampleProcess.Start("LineProtocol", "line://127.0.0.1:0");
        await sample.ReadWordAfterAsync("listening on ");

        // Longer than the server takes. The input stays open.
        sample.Type(new string('x', 70_000));

        Assert.Equal(0, await sample.WaitAsync());
        Assert.Contains("A line has more than 65536 bytes.", sample.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task OpcUaServer_knows_its_users_as_they_are_written()
    {
        string folder = Directory.CreateTempSubdirectory("fastport-").FullName;
        try
        {
            using SampleProcess server = SampleProcess.Start(
                "OpcUaServer", "--OpcUaServer:Endpoints:0=opc.tcp://127.0.0.1:0", "--OpcUaServer:SecurityPolicies:0=None",
                $"--OpcUaServer:Certificates:Directory={folder}", "--OpcUaServer:AllowAnonymous=false", "--Users:ann=secret");
            string endpoint = await server.ReadWordAfterAsync("Listening on ");

            // A certificate of its own directory is trusted with a password.
            async Task<StatusCode> ConnectAsync(string? name, string password)
            {
                var options = new OpcUaClientOptions { UserName = name, Password = password };
                options.Certificates.Directory = folder;
                try
                {
                    await using OpcUaClient client = await OpcUaClient.ConnectAsync(endpoint, options);
                    return StatusCodes.Good;
                }
                catch (OpcUaException e)
                {
                    return e.Status;
                }
            }

            Assert.Equal(StatusCodes.Good, await ConnectAsync("ann", "secret"));
            Assert.False((await ConnectAsync("ANN", "secret")).IsGood);
            Assert.False((await ConnectAsync("ann", "Secret")).IsGood);
            Assert.False((await ConnectAsync(null, "")).IsGood);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public async Task OpcUaServer_serves_its_plant_until_it_is_terminated()
    {
        using SampleProcess server = SampleProcess.Start(
            "OpcUaServer", "--OpcUaServer:Endpoints:0=opc.tcp://127.0.0.1:0", "--OpcUaServer:SecurityPolicies:0=None");
        string endpoint = await server.ReadWordAfterAsync("Listening on ");
        await using (OpcUaClient client = await OpcUaClient.ConnectAsync(endpoint))
        {
            NodeId Id(string text) => client.Namespaces.MakeId("urn:fastport:plant", text);

            DataValue[] values = await client.ReadAsync([Id("Machine7/Name"), Id("Machine7/Parts2"), Id("Machine7/Temperature3")]);
            await client.CallAsync(Id("Plant"), Id("StoreRecipe"), [(OpcUa.ByteString)"sugar"u8.ToArray()]);
            MethodCallResult recipe = await client.CallAsync(Id("Plant"), Id("LoadRecipe"), []);

            Assert.Equal(["machine-007", "72", "21.5"], values.Select(static value => $"{value.Value}"));
            Assert.Equal("sugar"u8, recipe.Outputs[0].Get<OpcUa.ByteString>().Span);
        }

        if (OperatingSystem.IsWindows())
        {
            return;
        }

        await server.TerminateAsync();
        Assert.Equal(0, await server.WaitAsync());
    }

    [Fact]
    public async Task OpcUaClient_tours_the_simulation()
    {
        using SampleProcess simulation = SampleProcess.StartProgram(
            "src/FastPort.OpcBridge", "simulate", "--listen", "opc.tcp://127.0.0.1:0", "--security-policy", "None");
        string endpoint = await simulation.ReadWordAfterAsync("listening on ");
        using SampleProcess client = SampleProcess.Start("OpcUaClient", endpoint);

        Assert.Equal(0, await client.WaitAsync());

        // As docs/opc-ua.md shows it.
        string document = await File.ReadAllTextAsync(Path.Combine(Repository.Root, "docs", "opc-ua.md"));
        Assert.Contains($"```\n{client.Output.ReplaceLineEndings("\n")}```\n", document, StringComparison.Ordinal);
    }

    private static async Task EchoAsync(string endpoint)
    {
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint });
        await client.ConnectAsync();
        Echo reply = await client.RequestAsync(0x1000, new Echo { Payload = ByteString.CopyFromUtf8("hello") }, Echo.Parser);
        Assert.Equal("hello", reply.Payload.ToStringUtf8());
    }
}
