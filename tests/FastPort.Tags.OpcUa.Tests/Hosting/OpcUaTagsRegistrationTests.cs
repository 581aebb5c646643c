using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Hosting;

/// <summary>Tags of OPC UA servers in a host.</summary>
public sealed class OpcUaTagsRegistrationTests
{
    [Fact]
    public async Task A_host_serves_the_tags_of_an_OPC_UA_server_and_those_of_its_own_sources_as_its_authorizer_says()
    {
        await using var plant = new OpcUaPeer(static space =>
        {
            ushort ns = space.AddNamespace("urn:plant");
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(ns, "speed"), new QualifiedName(ns, "speed"), 12.5);
        });
        await plant.StartAsync();
        using var folder = new TemporaryDirectory();
        var own = new MemoryTagSource();
        own.Add("own", 7);
        own.Add("secret", 8);
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddSingleton<ITagSource>(own);
        builder.Services.AddSingleton<TagAuthorizer>(static (_, _, name, _) => name != "secret");
        builder.Services.AddOpcUaTags(builder.Configuration).Configure(options =>
        {
            options.Endpoints.Add(new OpcUaEndpointOptions { Name = "plant", Client = { EndpointUrl = plant.Url } });
            options.Endpoints[0].Client.Certificates.Directory = folder.Path;
            options.Endpoints[0].Client.Certificates.UnsafeTrustAll = true;
            options.Tags.Add(
                new OpcUaTagOptions { Name = "line/speed", Endpoint = "plant", NamespaceUri = "urn:plant", NodeId = "s=speed" });
        });
        builder.Services.AddFastPort(builder.Configuration, static options => options.Endpoints = ["tcp://127.0.0.1:0"]).MapTags();
        using IHost host = builder.Build();
        await host.StartAsync(Patience.Token);

        await using (TagClient client = await TagClient.ConnectAsync(
            host.Services.GetRequiredService<FastPortServer>().Endpoints[0].ToString()))
        {
            Assert.Equal(12.5, (await client.ReadAsync("line/speed")).Value);
            Assert.Equal(7, (await client.ReadAsync("own")).Value);
            Assert.False((await client.ReadAsync("secret")).Status.IsGood);
        }

        await host.StopAsync(Patience.Token);
    }

    [Fact]
    public async Task A_host_without_the_stack_of_an_endpoint_does_not_start_and_says_how_to_get_it()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>(StringComparer.Ordinal)
        {
            ["OpcBridge:Endpoints:plant:EndpointUrl"] = "opc.tcp://127.0.0.1:1",
            ["OpcBridge:Endpoints:plant:Stack"] = "OpcFoundation",
            ["OpcBridge:Endpoints:plant:Below:0"] = "i=85",
        });
        builder.Services.AddOpcUaTags(builder.Configuration);
        using IHost host = builder.Build();

        OptionsValidationException wrong = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync(Patience.Token));

        string problem = Assert.Single(wrong.Failures);
        Assert.StartsWith("OpcBridge:Endpoints:plant:Stack is OpcFoundation", problem, StringComparison.Ordinal);
        Assert.Contains("-p:WithOpcFoundation=true", problem, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_wrong_section_and_wrong_code_are_named_together_and_the_host_does_not_start()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>(StringComparer.Ordinal)
        {
            ["OpcBridge:Endpoints:plant:EndpointUrl"] = "opc.tcp://127.0.0.1:1",
            ["OpcBridge:Endpoints:plant:Colour"] = "red",
            ["OpcBridge:Endpoints:plant:Stack"] = "OpcFoundation",
            ["OpcBridge:Groups:fast:Deadband"] = "a lot",
        });
        builder.Services.AddOpcUaTags(builder.Configuration).Configure(static options =>
        {
            options.Tags.Add(new OpcUaTagOptions { Name = "speed", Endpoint = "plant", NodeId = "i=1", Group = "slow" });
            options.Endpoints.Add(new OpcUaEndpointOptions { Client = { EndpointUrl = "opc.tcp://127.0.0.1:1" }, Below = { "i=85" } });
        });
        using IHost host = builder.Build();

        OptionsValidationException wrong = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync(Patience.Token));

        Assert.Contains("OpcBridge:Endpoints:plant:Colour is not a known key", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Groups:fast:Deadband is 'a lot'", wrong.Message, StringComparison.Ordinal);
        Assert.Contains(
            "OpcBridge:Endpoints:plant:Stack is OpcFoundation, which this program does not have.", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Endpoints: an endpoint has no name", wrong.Message, StringComparison.Ordinal);
        Assert.Contains("OpcBridge:Tags: 'speed' names the group 'slow'", wrong.Message, StringComparison.Ordinal);
    }
}
