using FastPort;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FastPort.Tags;
using FastPort.Tags.OpcUa;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

const string Plant = "inproc://plant";
const string Namespace = "urn:example:plant";
HostApplicationBuilder builder = Host.CreateApplicationBuilder(
    new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory });

// The plant, so that the sample runs by itself: a real gateway connects to the plant's server.
builder.Services
    .AddOpcUaServer(builder.Configuration, (provider, space) => AddNodes(space))
    .Configure(options => options.Endpoints.Add(Plant));

// The gateway: all variables of the plant are tags, below "plant/".
builder.Services.AddOpcUaTags(builder.Configuration).Configure(options => options.Endpoints.Add(
    new OpcUaEndpointOptions { Name = "plant", Client = { EndpointUrl = Plant }, Below = { "i=85" }, AllowWrite = true }));
builder.Services
    .AddFastPort(builder.Configuration, options =>
    {
        options.Endpoints = ["tcp://127.0.0.1:0"];
        options.Session.MaxConcurrency = 64;
    })
    .MapTags();
using IHost host = builder.Build();
await host.StartAsync();
await UseAsync($"{host.Services.GetRequiredService<FastPortServer>().Endpoints[0]}");
await host.StopAsync();

// A client of the gateway, which knows nothing of OPC UA.
static async Task UseAsync(string gateway)
{
    await using TagClient client = await TagClient.ConnectAsync(gateway);
    TagList both = await client.ResolveAsync(["plant/boiler/temperature", "plant/boiler/setpoint"]);
    await using TagSubscription subscription = await client.SubscribeAsync(both, new() { Interval = TimeSpan.FromMilliseconds(50) });
    Console.WriteLine($"written: {await client.WriteAsync("plant/boiler/setpoint", 85.0)}");
    Console.WriteLine($"read: {await client.ReadAsync("plant/boiler/setpoint")}");
    await foreach (TagChange change in subscription)
    {
        Console.WriteLine($"changed: {change.Name} {change.Sample}");
        if (change is { Name: "plant/boiler/temperature", Sample: { Status.IsGood: true, Value: var value } } && value == 85.0)
        {
            break;
        }
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
