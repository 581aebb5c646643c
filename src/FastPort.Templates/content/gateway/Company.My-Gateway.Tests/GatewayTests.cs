using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FastPort.Tags;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Company.My_Gateway.Tests;

public sealed class GatewayTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_variable_of_the_plant_is_a_tag()
    {
        using IHost plant = Plant("inproc://plant", "temperature", 20.5);
        await plant.StartAsync(Token);
        using IHost gateway = Gateway.Build(
            ["--FastPort:Endpoints:0=inproc://gateway", "--OpcBridge:Endpoints:plant:EndpointUrl=inproc://plant"]);
        await gateway.StartAsync(Token);
        await using TagClient client = await TagClient.ConnectAsync("inproc://gateway", cancellationToken: Token);

        TagSample sample = await client.ReadAsync("plant/temperature", cancellationToken: Token);

        Assert.Equal(TagStatus.Good, sample.Status);
        Assert.Equal(20.5, sample.Value);
    }

    // An OPC UA server with one variable.
    private static IHost Plant(string endpoint, string name, double value)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Services.AddOpcUaServer(builder.Configuration, (_, space) =>
        {
            ushort index = space.AddNamespace("urn:example:plant");
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(index, name), new QualifiedName(index, name), value);
        }).Configure(options => options.Endpoints.Add(endpoint));
        return builder.Build();
    }
}
