using FastPort.OpcUa;
using FastPort.OpcUa.Server;

namespace OpcUaStacks;

/// <summary>FastPort's OPC UA server with 100 variables of type Double, which all change every 20 ms.</summary>
internal static class TagServer
{
    public const string NamespaceUri = "urn:fastport:stacks";
    public const int Tags = 100;

    private static readonly TimeSpan Change = TimeSpan.FromMilliseconds(20);

    /// <summary>Writes its address and runs until its input ends.</summary>
    public static async Task RunAsync()
    {
        await using var server = new OpcUaServer(new OpcUaServerOptions
        {
            Endpoints = { "opc.tcp://127.0.0.1:0" },
            SecurityPolicies = [OpcUaSecurityPolicy.None],
        });
        AddressSpace space = server.AddressSpace;
        ushort ns = space.AddNamespace(NamespaceUri);
        space.AddFolder(AddressSpace.ObjectsFolder, new NodeId(ns, 1), new QualifiedName(ns, "Tags"));
        VariableNode[] nodes = [.. Enumerable.Range(0, Tags).Select(i =>
            space.AddVariable(new NodeId(ns, 1), new NodeId(ns, 1000u + (uint)i), new QualifiedName(ns, $"t{i}"), (double)i))];
        await server.StartAsync();
        Console.WriteLine(server.Endpoints[0]);
        using var timer = new PeriodicTimer(Change);
        Task ended = Task.Run(Console.In.ReadLine);
        for (double value = 0; !ended.IsCompleted; value++)
        {
            await timer.WaitForNextTickAsync();
            DateTime now = DateTime.UtcNow;
            Array.ForEach(nodes, node => node.Value = new DataValue(Variant.From(value), StatusCodes.Good, now, now));
        }
    }
}
