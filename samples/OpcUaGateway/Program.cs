using FastPort.Hosting;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Protocol.Tags.Clients;
using FastPort.Protocol.Tags.Serving;
using FastPort.Protocol.Tags.Sources;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OpcUaGateway;

const string Namespace = "urn:example:plant";
HostApplicationBuilder builder = Host.CreateApplicationBuilder(
    new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory });

// The plant, so that the sample runs by itself. A real gateway has no server of OPC UA, and section OpcUaClient names the plant's.
builder.Services.AddOpcUaServer(builder.Configuration, AddPlant).Configure(static options => options.Endpoints.Add("inproc://plant"));
builder.Services.AddOpcUaClient(builder.Configuration).Configure(static options => options.EndpointUrl = "inproc://plant");

// docs: gateway
builder.Services.AddSingleton<ITagSource>(static provider => new OpcUaNumbers(
    provider.GetRequiredService<OpcUaClient>(), Namespace, "boiler/temperature", "boiler/setpoint"));
builder.Services.AddSingleton(static provider => new TagServer(provider.GetServices<ITagSource>()));
builder.Services
    .AddFastPort(builder.Configuration, static options => options.Endpoints = ["tcp://127.0.0.1:0"])
    .Map(static (provider, handlers) => handlers.MapTags(provider.GetRequiredService<TagServer>()));

// docs: end
using IHost host = builder.Build();
await host.StartAsync();

// A client of the gateway, which knows nothing of OPC UA.
await using (TagClient client = await TagClient.ConnectAsync($"{host.Services.GetRequiredService<FastPortServer>().Endpoints[0]}"))
{
    TagList tags = await client.ResolveAsync(["boiler/temperature", "boiler/setpoint"]);
    await using TagSubscription subscription = await client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(50) });
    Console.WriteLine($"written: {await client.WriteAsync("boiler/setpoint", 85.0)}");
    Console.WriteLine($"read: {await client.ReadAsync("boiler/setpoint")}");
    await foreach (TagChange change in subscription)
    {
        Console.WriteLine($"changed: {change.Name} {change.Sample}");
        if (change is { Name: "boiler/temperature", Sample.Value: var value } && value == 85.0)
        {
            break;
        }
    }
}

await host.StopAsync();

// The temperature follows the setpoint, at once.
static void AddPlant(IServiceProvider provider, AddressSpace space)
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
