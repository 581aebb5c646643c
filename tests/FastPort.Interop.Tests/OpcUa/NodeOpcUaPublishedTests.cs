using FastPort.Interop.Tests.NodeClient;
using FastPort.Interop.Tests.Peers;
using FastPort.OpcUa.Server;
using FastPort.Tags;
using FastPort.Tags.OpcUa;
using Xunit;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>
/// Neither end is ours: a FastPort client on Node, which has tags.proto only, publishes tags that node-opcua's client reads, writes and
/// watches.
/// </summary>
public sealed class NodeOpcUaPublishedTests
{
    [NodeFact]
    public async Task Tags_that_a_client_on_Node_publishes_are_variables_for_node_opcua()
    {
        string folder = Directory.CreateTempSubdirectory("published-").FullName;
        var options = new OpcUaServerOptions { Endpoints = { "opc.tcp://127.0.0.1:0" } };
        options.Certificates.Directory = folder;
        await using var opcUa = new OpcUaServer(options);
        await using var source = new PublishedTagSource();
        opcUa.AddressSpace.AddPublishedTags(source);
        await opcUa.StartAsync();
        var declared = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        source.Declared += _ => declared.TrySetResult();
        await using NodeScenario bridge = await NodeScenario.StartAsync(map: handlers => handlers.MapPublishedTags(source));

        Task<Publisher> publishing = bridge.PlayAsync<Publisher>("publish");
        await Task.WhenAny(declared.Task, publishing).WaitAsync(NodeProcess.Limit);
        using var process = NodeProcess.Start("opcua/client.mjs", "published", opcUa.Endpoints[0].ToString());
        Seen seen = await process.FinishAsync<Seen>();
        Publisher publisher = await publishing;

        Assert.Equal([0, 0, 0, 0x80AB_0000], publisher.Statuses);
        Assert.Empty(publisher.Pushed);
        Assert.Equal([(0, "50"), (2, "[9]")], publisher.Writes.Select(static write => (write.Tag, $"{write.Value}")));
        Assert.Equal(("läuft!", 11, 1), (seen.State, seen.Type, seen.Access));
        Assert.Equal([1, 2], seen.Table);
        Assert.Equal(["Good", "BadTypeMismatch", "BadNotWritable", "BadOutOfRange"], seen.Writes);
        Assert.Equal(50, seen.Last);
        Directory.Delete(folder, recursive: true);
    }

    private sealed record Write(int Tag, System.Text.Json.JsonElement Value);

    private sealed record Publisher(uint[] Statuses, uint[] Pushed, Write[] Writes);

    private sealed record Seen(string State, int[] Table, int Type, int Access, string[] Writes, double Last);
}
