using FastPort.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.OpcBridge.Published;
using FastPort.OpcBridge.Tests.Sources;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FastPort.Protocol.Tags;
using FastPort.Protocol.Tags.Clients;
using FastPort.Protocol.Tags.Serving;
using FastPort.Protocol.Tags.Sources;
using Xunit;

namespace FastPort.OpcBridge.Tests.Published;

/// <summary>What OPC UA clients write to published tags: their publishers take values only.</summary>
public sealed class PublishedWritesTests
{
    [Fact]
    public async Task A_status_is_refused_and_the_other_values_of_the_request_are_written()
    {
        await using var source = new PublishedTagSource();
        AddressSpace space = null!;
        PublishedNodes nodes = null!;
        await using var server = new OpcUaPeer(made => nodes = new PublishedNodes(space = made, source));
        await server.StartAsync();
        await nodes.StartAsync(Patience.Token);
        await using var fastPort = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, new MessageHandlers().MapPublishedTags(source));
        await fastPort.StartAsync();
        await using TagClient publisher = await TagClient.ConnectAsync(
            new FastPortClientOptions { Endpoint = fastPort.Endpoints[0].ToString(), RoutingId = "press-4" });
        var press = new MemoryTagSource();
        press.Add("speed", 1.0, isWritable: true);
        press.Add("level", 2.0, isWritable: true);
        await publisher.PublishAsync(press);
        VariableNode speed = Node("speed"), level = Node("level");

        var statuses = new StatusCode[2];
        await speed.OnWrite!(
            new VariableWrite[]
            {
                new(speed, new DataValue(5.0, StatusCodes.UncertainInitialValue)),
                new(level, new DataValue(6.0, StatusCodes.Good, DateTime.UtcNow)),
            },
            statuses,
            Patience.Token);

        Assert.Equal([StatusCodes.BadWriteNotSupported, StatusCodes.Good], statuses);
        var samples = new TagSamples();
        await press.ReadAsync([0, 1], samples, Patience.Token);
        Assert.Equal([1.0, 6.0], Enumerable.Range(0, 2).Select(row => samples.GetValue(row).Get<double>()));

        VariableNode Node(string name) =>
            (VariableNode)space.Find(new NodeId(space.AddNamespace(PublishedNodes.NamespaceUri), name))!;
    }
}
