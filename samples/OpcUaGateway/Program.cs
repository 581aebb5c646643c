using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Protocol.Tags.Clients;
using FastPort.Protocol.Tags.Serving;
using OpcUaGateway;

const string Namespace = "urn:example:plant";

// The plant, so that the sample runs by itself: a real gateway connects to the plant's server.
await using var plant = new OpcUaServer(new OpcUaServerOptions { Endpoints = { "inproc://plant" } });
AddNodes(plant.AddressSpace);
await plant.StartAsync();

// The gateway. Connected before its source is made: the client raises no event for its first session.
await using OpcUaClient opcUa = await OpcUaClient.ConnectAsync("inproc://plant");
await using var tags = new TagServer([new OpcUaNumbers(opcUa, Namespace, "boiler/temperature", "boiler/setpoint")]);
var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" }, Session = { MaxConcurrency = 64 } };
await using var server = new FastPortServer(options, new MessageHandlers().MapTags(tags));
await server.StartAsync();

// A client of the gateway, which knows nothing of OPC UA.
await using TagClient client = await TagClient.ConnectAsync($"{server.Endpoints[0]}");
TagList both = await client.ResolveAsync(["boiler/temperature", "boiler/setpoint"]);
await using TagSubscription subscription = await client.SubscribeAsync(both, new() { Interval = TimeSpan.FromMilliseconds(50) });
Console.WriteLine($"written: {await client.WriteAsync("boiler/setpoint", 85.0)}");
Console.WriteLine($"read: {await client.ReadAsync("boiler/setpoint")}");
await foreach (TagChange change in subscription)
{
    Console.WriteLine($"changed: {change.Name} {change.Sample}");
    if (change is { Name: "boiler/temperature", Sample: { Status.IsGood: true, Value: var value } } && value == 85.0)
    {
        break;
    }
}

// The temperature follows the setpoint, at once.
static void AddNodes(AddressSpace space)
{
    ushort index = space.AddNamespace(Namespace);
    VariableNode temperature = Add("boiler/temperature", 20.5);
    VariableNode setpoint = Add("boiler/setpoint", 80);
    setpoint.OnWrite = (writes, _, _) =>
    {
        setpoint.Value = temperature.Value = writes.Span[^1].Value;
        return default;
    };
    setpoint.IsWritable = true;

    VariableNode Add(string name, double value) =>
        space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(index, name), new QualifiedName(index, name), value);
}
