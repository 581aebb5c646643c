using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Tags;
using Xunit;

namespace FastPort.OpcBridge.Tests;

/// <summary>The bridge as a user runs it.</summary>
public sealed class BridgeProgramTests
{
    [Fact]
    public async Task Without_an_endpoint_it_bridges_the_simulation()
    {
        await using var bridge = Start();
        await using TagClient client = await ConnectAsync(bridge, "simulation/Double.0");

        TagList tags = await client.ResolveAsync(await client.BrowseAsync("simulation")
            .Where(static node => node.Kind == TagBrowseKind.Tag).Select(static node => node.Name).ToListAsync());
        TagSamples samples = await client.ReadAsync(tags);

        Assert.Equal(2000, samples.Count);
        Assert.All(Enumerable.Range(0, samples.Count), row => Assert.Equal(TagStatus.Good, samples.GetStatus(row)));
        Assert.Equal(TagStatus.Good, await client.WriteAsync("simulation/Double.0", 2.5));
        Assert.Equal(0, await bridge.TerminateAsync());
        Assert.Empty(bridge.Errors);
    }

    [Fact]
    public async Task Its_values_are_watched_while_they_change()
    {
        await using var bridge = Start();
        await using TagClient client = await ConnectAsync(bridge, "simulation/Int32.7");
        TagList tags = await client.ResolveAsync(["simulation/Int32.7"]);
        await using TagSubscription subscription = await client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(100) });

        List<int> seen = [];
        await foreach (TagChange change in subscription)
        {
            seen.Add(change.Sample.Value.Get<int>());
            if (seen.Count == 3)
            {
                break;
            }
        }

        // Each generation is the one before and 1,000.
        Assert.All(seen, static value => Assert.Equal(7, value % 1000));
        Assert.Equal(seen.Order().Distinct(), seen);
    }

    [Fact]
    public async Task It_serves_while_a_configured_server_is_away_and_says_so_per_tag()
    {
        await using var bridge = Start(
            ("OpcBridge__Endpoints__plant__EndpointUrl", "opc.tcp://127.0.0.1:1"),
            ("OpcBridge__Tags__0__Name", "speed"),
            ("OpcBridge__Tags__0__Endpoint", "plant"),
            ("OpcBridge__Tags__0__NodeId", "i=2258"));
        await using TagClient client = await TagClient.ConnectAsync(await bridge.ListeningAsync());

        Assert.Equal(TagStatus.BadNoCommunication, (await client.ReadAsync("speed")).Status);
        Assert.Equal(TagStatus.BadNodeIdUnknown, (await client.ReadAsync("nothing")).Status);
    }

    [Fact]
    public async Task Asked_to_end_while_it_waits_for_a_server_at_its_start_it_ends_in_order()
    {
        using var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        await using var bridge = Start(
            ("OpcBridge__Endpoints__plant__EndpointUrl", $"opc.tcp://{silent.LocalEndpoint}"),
            ("OpcBridge__Endpoints__plant__Below__0", "i=85"));
        using TcpClient asking = await silent.AcceptTcpClientAsync().WaitAsync(BridgeUnderTest.Soon);

        Assert.Equal(0, await bridge.TerminateAsync());
        Assert.Empty(bridge.Errors);
    }

    [Fact]
    public async Task All_that_is_wrong_in_its_configuration_is_named()
    {
        await using var bridge = Start(
            ("OpcBridge__Endpoints__plant__EndpointUrl", "nowhere"),
            ("OpcBridge__Endpoints__plant__Group", "slow"),
            ("OpcBridge__Endpoints__line1__EndpointUrl", "opc.tcp://127.0.0.1:1"),
            ("OpcBridge__Tags__0__Name", "a"),
            ("OpcBridge__Tags__0__Endpoint", "plant"),
            ("OpcBridge__Tags__0__NodeId", "i=1"),
            ("OpcBridge__Tags__1__Name", "a"),
            ("OpcBridge__Tags__1__Endpoint", "factory"),
            ("OpcBridge__Tags__1__NodeId", "ns=2;i=2"),
            ("OpcBridge__Tags__2__Name", "c"),
            ("OpcBridge__Tags__2__Endpoint", "Plant"),
            ("OpcBridge__Tags__2__NodeId", "i=2"),
            ("OpcBridge__Tags__2__Group", "Quick"),
            ("OpcBridge__Groups__quick__Deadband", "0.5"),
            ("OpcBridge__Endpoints__press__EndpointUrl", "http://127.0.0.1:4840"),
            ("OpcBridge__Endpoints__press__Below__0", "i=85"),
            ("OpcBridge__Published__MaxTags", "0"),
            ("OpcBridge__Published__MaxValueBytes", "4 GiB"),
            ("OpcBridge__Published__WriteTimeout", "00:00:00"),
            ("OpcBridge__Published__MaxWrites", "4"),
            ("OpcBridge__Colour", "red"));

        Assert.Equal(2, await bridge.ExitAsync());
        Assert.Contains("OpcBridge:Endpoints:plant:EndpointUrl", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Endpoints: 'line1' has no tags: give Below, such as", bridge.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("'plant' has no tags", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains(
            "OpcBridge:Endpoints:press:EndpointUrl is 'http://127.0.0.1:4840'; give a URL such as opc.tcp://10.0.0.5:4840/path.",
            bridge.Errors,
            StringComparison.Ordinal);
        Assert.Contains("names the group 'slow', which is not under Groups.", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("names the endpoint 'factory', which is not under Endpoints.", bridge.Errors, StringComparison.Ordinal);

        // An environment variable in upper case causes this: keys of a configuration ignore case, names of tags do not.
        Assert.Contains(
            "'c' names the endpoint 'Plant', which is not under Endpoints; 'plant' there differs in case, which counts.",
            bridge.Errors,
            StringComparison.Ordinal);
        Assert.Contains(
            "'c' names the group 'Quick', which is not under Groups; 'quick' there differs in case, which counts.",
            bridge.Errors,
            StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Tags:1:NodeId is 'ns=2;i=2'; give a node id without namespace", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("'a' is the name of plant  i=1 and factory  ns=2;i=2", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Published:MaxTags is 0; allowed: 1 to", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Published:MaxValueBytes is '4 GiB'; allowed: 1 to", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Published:WriteTimeout is 00:00:00; allowed: ", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Published:MaxWrites is not a known key; known keys: MaxTags, ", bridge.Errors, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Colour is not a known key", bridge.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Wrong_values_of_several_sections_are_named_together()
    {
        await using var bridge = Start(
            ("OpcBridge__AllowPublish", "true"),
            ("OpcBridge__Endpoints__plant__EndpointUrl", "nowhere"),
            ("OpcBridge__Endpoints__plant__Below__0", "i=85"),
            ("OpcBridge__Endpoints__plant__Stack", "OpcFoundation"),
            ("OpcUaServer__MaxSessions", "-1"),
            ("FastPort__Loops", "9999"),
            ("FastPort__Backplane__Node", "a"),
            ("LatencyStats__Prefix", "x"),
            ("Dashboard__Url", "nowhere"),
            ("Security__UsersFile", "/nonexistent/users"),
            ("Security__MaxUsers", "x"),
            ("Status__Access", "Everybody"),
            ("Serilog__MinimumLevel__Default", "Loudest"));

        Assert.Equal(2, await bridge.ExitAsync());
        string[] problems =
        [
            "OpcBridge:Endpoints:plant:EndpointUrl",
            "OpcBridge:Endpoints:plant:Stack is OpcFoundation, which this program does not have.",
            "OpcUaServer:MaxSessions is -1; allowed: ",
            "FastPort:Loops is 9999; allowed: ",
            "FastPort:Backplane is set, but this program joins no nodes: ",
            "LatencyStats:Prefix is not a known key; ",
            "Dashboard:Url is 'nowhere'",
            "Security:MaxUsers is not a known key; ",
            "Status:Access is 'Everybody'; allowed: ",
            "Serilog: ",
        ];
        Assert.All(problems, problem => Assert.Contains($"\n{problem}", $"\n{bridge.Errors}", StringComparison.Ordinal));
        Assert.DoesNotContain("   at ", bridge.Errors, StringComparison.Ordinal);
    }

    /// <summary>The bridge's own server accepts the users of the file.</summary>
    [Fact]
    public async Task A_wrong_value_of_its_own_server_is_named_even_if_the_file_of_the_users_cannot_be_read()
    {
        await using var bridge = Start(("OpcUaServer__MaxSessions", "-1"), ("Security__UsersFile", "/nonexistent/users"));

        Assert.Equal(2, await bridge.ExitAsync());
        Assert.StartsWith("OpcUaServer:MaxSessions is -1; allowed: ", bridge.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_log_on_a_full_disk_does_not_spoil_its_end()
    {
        Assert.SkipUnless(File.Exists("/dev/full"), "The system has no device that is always full.");
        await using var bridge = Start(
            ("Serilog__WriteTo__1__Args__configure__0__Args__path", "/dev/full"),
            ("Serilog__WriteTo__1__Args__configure__0__Args__rollingInterval", "Infinite"),
            ("Serilog__WriteTo__1__Args__configure__0__Args__shared", "false"));
        await bridge.ListeningAsync();

        Assert.Equal(0, await bridge.TerminateAsync());
        Assert.StartsWith("The log cannot be written: ", bridge.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", bridge.Errors, StringComparison.Ordinal);
    }

    /// <summary>An interrupted copy leaves such a file.</summary>
    [Fact]
    public async Task An_empty_file_of_its_own_certificate_is_named_in_a_sentence()
    {
        string folder = Directory.CreateTempSubdirectory("empty-").FullName;
        string file = Path.Combine(Directory.CreateDirectory(Path.Combine(folder, "own")).FullName, "certificate.pem");
        await File.WriteAllBytesAsync(file, []);
        await using (var bridge = Start(("OpcUaServer__Certificates__Directory", folder)))
        {
            Assert.Equal(1, await bridge.ExitAsync());
            Assert.Contains(file, bridge.Errors, StringComparison.Ordinal);
            Assert.DoesNotContain("   at ", bridge.Errors, StringComparison.Ordinal);
        }

        Directory.Delete(folder, recursive: true);
    }

    /// <summary>What a server calls its nodes is no reason not to start.</summary>
    [Fact]
    public async Task Two_nodes_of_one_name_are_two_tags_and_do_not_stop_the_start()
    {
        string folder = Directory.CreateTempSubdirectory("twice-").FullName;
        var options = new OpcUaServerOptions { Endpoints = { "opc.tcp://127.0.0.1:0" }, SecurityPolicies = [OpcUaSecurityPolicy.None] };
        options.Certificates.Directory = folder;
        await using (var server = new OpcUaServer(options))
        {
            ushort index = server.AddressSpace.AddNamespace("urn:twice");
            foreach (uint number in (uint[])[1, 2])
            {
                server.AddressSpace.AddVariable(
                    AddressSpace.ObjectsFolder, new NodeId(index, number), new QualifiedName(index, "speed"), 1.5 * number);
            }

            await server.StartAsync();

            // With a tag that has the name of another endpoint's node.
            await using var bridge = Start(
                ("OpcBridge__Endpoints__plant__EndpointUrl", server.Endpoints[0].ToString()),
                ("OpcBridge__Endpoints__plant__SecurityPolicy", "None"),
                ("OpcBridge__Endpoints__plant__Below__0", "i=85"),
                ("OpcBridge__Endpoints__factory__EndpointUrl", server.Endpoints[0].ToString()),
                ("OpcBridge__Endpoints__factory__SecurityPolicy", "None"),
                ("OpcBridge__Endpoints__factory__Below__0", "i=2253"),
                ("OpcBridge__Tags__0__Name", "factory/ServerStatus"),
                ("OpcBridge__Tags__0__Endpoint", "plant"),
                ("OpcBridge__Tags__0__NodeId", "i=2256"));
            await using (TagClient client = await ConnectAsync(bridge, "plant/speed@i=1"))
            {
                Assert.Equal(1.5, (await client.ReadAsync("plant/speed@i=1")).Value);
                Assert.Equal(3.0, (await client.ReadAsync("plant/speed@i=2")).Value);
                Assert.Equal(TagStatus.BadNodeIdUnknown, (await client.ReadAsync("plant/speed")).Status);
                Assert.Equal(TagStatus.Good, (await client.ReadAsync("factory/ServerStatus")).Status);
            }

            // One that the configuration names is no second one.
            await using var named = Start(
                ("OpcBridge__Endpoints__plant__EndpointUrl", server.Endpoints[0].ToString()),
                ("OpcBridge__Endpoints__plant__SecurityPolicy", "None"),
                ("OpcBridge__Endpoints__plant__Below__0", "i=85"),
                ("OpcBridge__Tags__0__Name", "other"),
                ("OpcBridge__Tags__0__Endpoint", "plant"),
                ("OpcBridge__Tags__0__NamespaceUri", "urn:twice"),
                ("OpcBridge__Tags__0__NodeId", "i=2"));
            await using TagClient other = await ConnectAsync(named, "plant/speed");
            Assert.Equal(3.0, (await other.ReadAsync("other")).Value);
            Assert.Equal(1.5, (await other.ReadAsync("plant/speed")).Value);
        }

        Directory.Delete(folder, recursive: true);
    }

    /// <summary>They start at once; which of them makes the certificate of the directory does not matter.</summary>
    [Fact]
    public async Task Its_own_server_and_its_endpoints_are_one_application_with_one_certificate()
    {
        await using var first = new OpcUaPeer(static space => Add(space, 1.5));
        await using var second = new OpcUaPeer(static space => Add(space, 2.5));
        await first.StartAsync();
        await second.StartAsync();
        await using var bridge = Start(
            [("OpcBridge__AllowPublish", "true"), .. Secured("first", first.Url), .. Secured("second", second.Url)]);

        await using TagClient client = await ConnectAsync(bridge, "first/speed");
        await using TagClient other = await ConnectAsync(bridge, "second/speed");

        Assert.Equal(1.5, (await client.ReadAsync("first/speed")).Value);
        Assert.Equal(2.5, (await client.ReadAsync("second/speed")).Value);

        static void Add(AddressSpace space, double value)
        {
            ushort index = space.AddNamespace("urn:speed");
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(index, 1), new QualifiedName(index, "speed"), value);
        }

        static IEnumerable<(string Key, string Value)> Secured(string name, string url) =>
        [
            ($"OpcBridge__Endpoints__{name}__EndpointUrl", url),
            ($"OpcBridge__Endpoints__{name}__SecurityPolicy", "Basic256Sha256"),
            ($"OpcBridge__Endpoints__{name}__Certificates__Directory", "pki"),
            ($"OpcBridge__Endpoints__{name}__Certificates__UnsafeTrustAll", "true"),
            ($"OpcBridge__Endpoints__{name}__Below__0", "i=85"),
        ];
    }

    [Fact]
    public async Task Its_report_has_what_each_endpoint_was_asked_and_what_the_cache_answered()
    {
        await using var bridge = Start();
        await using (TagClient client = await ConnectAsync(bridge, "simulation/Int32.0"))
        {
            TagList tags = await client.ResolveAsync(["simulation/Int32.0", "simulation/Double.1", "simulation/Double.1"]);
            await client.ReadAsync(tags);
            await client.ReadAsync(tags, maxAge: TimeSpan.FromHours(1));
            await client.WriteAsync("simulation/Double.1", 2.5);
            await using TagSubscription subscription = await client.SubscribeAsync(tags);
        }

        Assert.Equal(0, await bridge.TerminateAsync());
        string path = Assert.Single(Directory.GetFiles(Path.Combine(bridge.Directory, "Stats"), "latency_stats_*_server_*.json"));
        using JsonDocument report = JsonDocument.Parse(await File.ReadAllTextAsync(path));

        Assert.Equal(
            [("simulation Read", 1, 0), ("simulation Subscribe", 1, 0), ("simulation Unsubscribe", 1, 0), ("simulation Write", 1, 0)],
            report.RootElement.GetProperty("operations").EnumerateArray().Select(static operation => (
                Name: operation.GetProperty("name").GetString(),
                operation.GetProperty("lifetime").GetProperty("calls").GetInt32(),
                operation.GetProperty("lifetime").GetProperty("errors").GetInt32()))

                // Names are looked up until the endpoint has them.
                .Where(static operation => operation.Name is not ("simulation Resolve" or "published Resolve")));
        JsonElement[] counts = [.. report.RootElement.GetProperty("counts").EnumerateArray()];
        Assert.Equal(["simulation", "published"], counts.Select(static one => one.GetProperty("name").GetString()));
        Assert.Equal(
            """{"read":2,"joined":1,"coalescing_factor":1.5,"cached":3,"cache_hit_rate":0.5,"written":1,"dropped":0,"losses":0}""",
            JsonSerializer.Serialize(counts[0].GetProperty("lifetime")));
    }

    [Fact]
    public async Task Its_own_server_has_the_name_that_the_configuration_gives_it()
    {
        Assert.Equal("FastPort OPC UA bridge", await NameAsync());
        Assert.Equal("Plant bridge", await NameAsync(("OpcUaServer__ApplicationName", "Plant bridge")));

        static async Task<string?> NameAsync(params (string Key, string Value)[] environment)
        {
            await using var bridge = Start(environment);
            return (await OpcUaClient.GetEndpointsAsync(await bridge.ListeningAsync("opc.tcp")))[0].Server.ApplicationName.Text;
        }
    }

    // The bridge waits for its tags for a moment only before it listens: on a busy machine they may come later.
    private static async Task<TagClient> ConnectAsync(BridgeProcess bridge, string tag)
    {
        TagClient client = await TagClient.ConnectAsync(await bridge.ListeningAsync());
        CancellationToken token = Patience.Token;
        while ((await client.ResolveAsync([tag], token)).Infos[0] is null)
        {
            await Task.Yield();
        }

        return client;
    }

    private static BridgeProcess Start(params (string Key, string Value)[] environment) => BridgeProcess.Start(
        ["--listen", "tcp://127.0.0.1:0"],
        [("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"), ("OpcUaServer__Certificates__Directory", "pki"), .. environment]);
}
