using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>Servers with more nodes than the bridge is to look at.</summary>
public sealed class BrowseLimitTests
{
    private const int Folders = 10_000;

    [Fact]
    public async Task Nodes_that_are_no_tags_are_looked_at_up_to_a_limit()
    {
        await using Bridged bridged = await Bridged.StartAsync(
            static space =>
            {
                ushort ns = space.AddNamespace(Bridged.NamespaceUri);
                var root = new NodeId(ns, 1);
                space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
                space.AddVariable(root, new NodeId(ns, 2), new QualifiedName(ns, "first"), 1);
                for (uint i = 0; i < Folders; i++)
                {
                    space.AddObject(root, new NodeId(ns, 10 + i), new QualifiedName(ns, $"{i}"));
                }

                space.AddVariable(new NodeId(ns, 10), new NodeId(ns, 3), new QualifiedName(ns, "deep"), 1);
            },
            ("Endpoints:plant:EndpointUrl", "{url}"),
            ("Endpoints:plant:MaxTags", "10"),
            ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));

        Assert.Equal(1, bridged.Source.Count);
    }
}
