using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Tags.OpcFoundation.Tests;

/// <summary>The stack in a host, chosen by the configuration.</summary>
public sealed class FoundationHostTests
{
    private const string NamespaceUri = "urn:plant";

    [Fact]
    public async Task An_endpoint_with_this_stack_has_the_names_units_and_parts_that_it_has_with_the_other_one()
    {
        await using var plant = new OpcUaPeer(Build);
        await plant.StartAsync();
        using var folder = new TemporaryDirectory();
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Configuration.AddInMemoryCollection(
        [
            .. Endpoint("own", "FastPort"), .. Endpoint("other", "OpcFoundation"),
            new("OpcBridge:Groups:quiet:PublishingInterval", "00:00:00.020"),
            new("OpcBridge:Groups:quiet:Deadband", "10%"),
        ]);
        builder.Services.AddOpcFoundationStack().AddOpcUaTags(builder.Configuration);
        builder.Services.AddFastPort(builder.Configuration, static options => options.Endpoints = ["tcp://127.0.0.1:0"]).MapTags();
        using IHost host = builder.Build();
        await host.StartAsync(Patience.Token);

        await using (TagClient client = await TagClient.ConnectAsync(
            host.Services.GetRequiredService<FastPortServer>().Endpoints[0].ToString()))
        {
            string[] own = await NamesAsync(client, "own");
            Assert.Contains("/Level", own);
            Assert.Contains("/Speed@s=pump1", own);
            Assert.Equal(own, await NamesAsync(client, "other"));

            TagList tags = await client.ResolveAsync(["own/Level", "other/Level", "own/Counts[1:2]", "other/Counts[1:2]"]);
            Assert.Equal(("m", (0.0, 5.0)), (tags.Infos[0]!.Unit, tags.Infos[0]!.Range));
            Assert.Equal(tags.Infos[0]! with { Tag = 0, Name = string.Empty }, tags.Infos[1]! with { Tag = 0, Name = string.Empty });
            TagSamples samples = await client.ReadAsync(tags);
            Assert.Equal(
                [1.25, 1.25, TagValue.FromArray([2, 3]), TagValue.FromArray([2, 3])], Enumerable.Range(0, 4).Select(samples.GetValue));

            await using TagWatch watch = await TagWatch.StartAsync(client, [.. tags.Names]);
            Assert.All(watch.Statuses, static status => Assert.Equal(TagStatus.Good, status));
            await watch.UntilAsync("other/Level", TagStatus.Good, 1.25);
            await watch.UntilAsync("other/Counts[1:2]", TagStatus.Good, TagValue.FromArray([2, 3]));
        }

        await host.StopAsync(Patience.Token);

        KeyValuePair<string, string?>[] Endpoint(string name, string stack) =>
        [
            new($"OpcBridge:Endpoints:{name}:EndpointUrl", plant.Url), new($"OpcBridge:Endpoints:{name}:Stack", stack),
            new($"OpcBridge:Endpoints:{name}:Below:0", $"nsu={NamespaceUri};i=1"), new($"OpcBridge:Endpoints:{name}:Group", "quiet"),
            new($"OpcBridge:Endpoints:{name}:Certificates:Directory", folder[name]),
        ];
    }

    private static async Task<string[]> NamesAsync(TagClient client, string path) =>
        [.. (await client.BrowseAsync(path).ToArrayAsync()).Select(node => node.Name[path.Length..]).Order(StringComparer.Ordinal)];

    private static void Build(AddressSpace space)
    {
        ushort ns = space.AddNamespace(NamespaceUri);
        var root = new NodeId(ns, 1);
        space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
        space.AddAnalogVariable(root, new NodeId(ns, 2), new QualifiedName(ns, "Level"), 1.25, low: 0, high: 5, unit: "m");
        space.AddArrayVariable(root, new NodeId(ns, 3), new QualifiedName(ns, "Counts"), [1, 2, 3]);
        space.AddVariable(root, new NodeId(ns, "pump1"), new QualifiedName(ns, "Speed"), 1.0);
        space.AddVariable(root, new NodeId(ns, "pump2"), new QualifiedName(ns, "Speed"), 2.0);
    }
}
