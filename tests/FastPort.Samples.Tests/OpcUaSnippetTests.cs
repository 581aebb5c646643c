using System.Threading.Channels;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.Samples.Tests.Snippets;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>The OPC UA code that the documents show does what they say.</summary>
public sealed class OpcUaSnippetTests : IDisposable
{
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(60);

    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task An_embedded_server_has_its_variable()
    {
        await using OpcUaServer server = await OpcUaServerSnippets.StartAsync("opc.tcp://127.0.0.1:0", Path.Combine(_folder, "server"));
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(server.Endpoints[0].ToString());

        DataValue[] values = await client.ReadAsync([client.Namespaces.MakeId("urn:example:boiler", "Temperature")]);

        Assert.Equal(21.0, values[0].Value.Get<double>());
    }

    [Fact]
    public async Task A_hosted_server_has_nodes_and_users_of_services()
    {
        using IHost host = CreateHost(services: OpcUaServerSnippets.AddBoiler, "None");
        await host.StartAsync();
        string url = host.Services.GetRequiredService<OpcUaServer>().Endpoints[0].ToString();

        Assert.Equal(1.5, await OpcUaClientSnippets.ReadPressureAsync(url));
        OpcUaClientOptions user = User("ann");
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(url, user);
        Assert.Equal(1.25, await OpcUaClientSnippets.SetAndVentAsync(client, setPoint: 85, bar: 0.25));
        Assert.True(double.IsNaN(await OpcUaClientSnippets.SetAndVentAsync(client, setPoint: 85, bar: -1)));
        Assert.Equal(85, host.Services.GetRequiredService<OpcUaServerSnippets.Boiler>().SetPoint.Value.Value.Get<double>());
        Assert.Equal(StatusCodes.BadUserAccessDenied, (await Assert.ThrowsAsync<OpcUaException>(
            () => OpcUaClient.ConnectAsync(url, User("eve")))).Status);
        await host.StopAsync();

        static OpcUaClientOptions User(string name) =>
            new() { UserName = name, Password = "secret", Certificates = { UnsafeTrustAll = true } };
    }

    [Fact]
    public async Task Both_sides_trust_each_other_after_the_steps_of_the_document()
    {
        using IHost host = CreateHost(services: OpcUaServerSnippets.AddBoiler, "Basic256Sha256");
        await host.StartAsync();
        string url = host.Services.GetRequiredService<OpcUaServer>().Endpoints[0].ToString();
        string client = Path.Combine(_folder, "client");

        Assert.Equal(StatusCodes.BadCertificateUntrusted, (await RefusedAsync()).Status);
        Trust(client);
        await RefusedAsync();
        Trust(Path.Combine(_folder, "server"));

        await using OpcUaClient connected = await OpcUaClientSnippets.ConnectSecuredAsync(url, client);
        Assert.Equal(1.5, await OpcUaClientSnippets.SetAndVentAsync(connected, setPoint: 85, bar: 0));
        await host.StopAsync();

        Task<OpcUaException> RefusedAsync() =>
            Assert.ThrowsAsync<OpcUaException>(() => OpcUaClientSnippets.ConnectSecuredAsync(url, client));

        static void Trust(string directory)
        {
            string file = Assert.Single(Directory.EnumerateFiles(Path.Combine(directory, "rejected")));
            File.Move(file, Path.Combine(directory, "trusted", Path.GetFileName(file)));
        }
    }

    [Fact]
    public async Task A_hosted_client_watches_a_value()
    {
        using IHost server = CreateHost(services: OpcUaServerSnippets.AddBoiler, "None");
        await server.StartAsync();
        var seen = Channel.CreateUnbounded<double>();
        using IHost recorder = CreateHost(
            (services, configuration) =>
            {
                services.AddSingleton<Action<DataValue>>(value => seen.Writer.TryWrite(value.Value.Get<double>()));
                OpcUaClientSnippets.AddRecorder(services, configuration);
            },
            "None",
            server.Services.GetRequiredService<OpcUaServer>().Endpoints[0].ToString());
        await recorder.StartAsync();
        VariableNode setPoint = server.Services.GetRequiredService<OpcUaServerSnippets.Boiler>().SetPoint;

        Assert.Equal(80, await NextAsync());
        setPoint.Value = new DataValue(80.25);
        setPoint.Value = new DataValue(90.0);

        Assert.Equal(90, await NextAsync());
        await recorder.StopAsync();
        await server.StopAsync();

        Task<double> NextAsync() => seen.Reader.ReadAsync().AsTask().WaitAsync(Soon);
    }

    [Fact]
    public async Task The_configuration_of_the_document_is_valid()
    {
        string document = await File.ReadAllTextAsync(Path.Combine(Repository.Root, "docs", "opc-ua-server.md"));
        string json = document.Split("```json\n")[1].Split("```")[0];
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddJsonStream(new MemoryStream(System.Text.Encoding.UTF8.GetBytes(json)));
        builder.Services.AddOpcUaServer(builder.Configuration);
        using IHost host = builder.Build();

        OpcUaServerOptions options = host.Services.GetRequiredService<IOptions<OpcUaServerOptions>>().Value;

        Assert.Equal([OpcUaSecurityPolicy.Basic256Sha256, OpcUaSecurityPolicy.Aes256Sha256RsaPss], options.SecurityPolicies);
        Assert.Equal([MessageSecurityMode.SignAndEncrypt], options.SecurityModes);
        Assert.Equal("/var/lib/boiler/pki", options.Certificates.Directory);
        Assert.False(options.AllowAnonymous);
    }

    private IHost CreateHost(Action<IServiceCollection, IConfiguration> services, string policy, string? server = null)
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>(StringComparer.Ordinal)
        {
            ["OpcUaServer:Endpoints:0"] = "opc.tcp://127.0.0.1:0",
            ["OpcUaServer:SecurityPolicies:0"] = policy,
            ["OpcUaServer:Certificates:Directory"] = Path.Combine(_folder, "server"),
            ["OpcUaClient:EndpointUrl"] = server ?? "opc.tcp://127.0.0.1",
        });
        services(builder.Services, builder.Configuration);
        return builder.Build();
    }
}
