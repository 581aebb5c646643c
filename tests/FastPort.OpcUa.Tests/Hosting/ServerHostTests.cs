using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Xunit;

namespace FastPort.OpcUa.Tests.Hosting;

/// <summary>OPC UA servers of a host: nodes and users from its services, options from its configuration.</summary>
public sealed class ServerHostTests
{
    private static readonly (string Key, string Value) NoSecurity = ("OpcUaServer:SecurityPolicies:0", "None");

    [Fact]
    public async Task A_server_has_the_nodes_of_a_service_and_lives_as_long_as_the_host()
    {
        HostApplicationBuilder builder = Hosts.Create(
            ("OpcUaServer:Endpoints:0", "opc.tcp://127.0.0.1:0"), ("OpcUaServer:ApplicationName", "boiler"), NoSecurity);
        builder.Services.AddSingleton<Boiler>();
        builder.Services.AddOpcUaServer(
            builder.Configuration, static (services, space) => services.GetRequiredService<Boiler>().AddTo(space));
        using IHost host = builder.Build();
        await host.StartAsync();
        string url = host.Services.GetRequiredService<OpcUaServer>().Endpoints[0].ToString();

        await using OpcUaClient client = await OpcUaClient.ConnectAsync(url);
        host.Services.GetRequiredService<Boiler>().Temperature.Value = new DataValue(21.5);

        Assert.Equal(21.5, Assert.Single(await client.ReadAsync([Boiler.TemperatureId])).Value.Get<double>());
        Assert.Equal("boiler", host.Services.GetRequiredService<IOptions<OpcUaServerOptions>>().Value.ApplicationName);
        await host.StopAsync();
        await Assert.ThrowsAsync<EndpointException>(() => OpcUaClient.ConnectAsync(url));
    }

    [Fact]
    public async Task Users_are_checked_by_a_service()
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        HostApplicationBuilder builder = Hosts.Create(
            ("OpcUaServer:Endpoints:0", "opc.tcp://127.0.0.1:0"), ("OpcUaServer:Certificates:Directory", folder), NoSecurity);
        builder.Services.AddSingleton(new Users("ann", "secret"));
        builder.Services.AddOpcUaServer(builder.Configuration)
            .Configure<Users>(static (options, users) => options.ValidateUser = (name, password, _) => new(users.Has(name, password)));
        using (IHost host = builder.Build())
        {
            await host.StartAsync();
            string url = host.Services.GetRequiredService<OpcUaServer>().Endpoints[0].ToString();

            var user = new OpcUaClientOptions { UserName = "ann", Password = "secret", Certificates = { UnsafeTrustAll = true } };
            await using OpcUaClient client = await OpcUaClient.ConnectAsync(url, user);
            var wrong = new OpcUaClientOptions { UserName = "ann", Password = "wrong", Certificates = { UnsafeTrustAll = true } };
            OpcUaException refused = await Assert.ThrowsAsync<OpcUaException>(() => OpcUaClient.ConnectAsync(url, wrong));

            Assert.Equal(StatusCodes.BadUserAccessDenied, refused.Status);
            await host.StopAsync();
        }

        Directory.Delete(folder, recursive: true);
    }

    [Fact]
    public async Task A_host_has_two_servers_with_sections_of_their_own()
    {
        HostApplicationBuilder builder = Hosts.Create(
            ("Field:Endpoints:0", "opc.tcp://127.0.0.1:0"), ("Field:SecurityPolicies:0", "none"), ("Field:MaxSessions", "7"),
            ("Office:Endpoints:0", "opc.tcp://127.0.0.1:0"), ("Office:SecurityPolicies:0", "None"));
        builder.Services.AddOpcUaServer("field", builder.Configuration.GetSection("Field"));
        builder.Services.AddOpcUaServer("office", builder.Configuration.GetSection("Office"))
            .Configure(static options => options.MaxSessions *= 2);
        using IHost host = builder.Build();
        await host.StartAsync();
        var field = host.Services.GetRequiredKeyedService<OpcUaServer>("field");
        var office = host.Services.GetRequiredKeyedService<OpcUaServer>("office");

        await using OpcUaClient client = await OpcUaClient.ConnectAsync(office.Endpoints[0].ToString());

        Assert.Equal((0, 1), (field.SessionCount, office.SessionCount));
        var options = host.Services.GetRequiredService<IOptionsMonitor<OpcUaServerOptions>>();
        Assert.Equal((7, 2000), (options.Get("field").MaxSessions, options.Get("office").MaxSessions));
        Assert.Null(host.Services.GetService<OpcUaServer>());
        await host.StopAsync();
    }

    [Fact]
    public void A_name_is_given_once()
    {
        HostApplicationBuilder builder = Hosts.Create();
        builder.Services.AddOpcUaServer(builder.Configuration);
        builder.Services.AddOpcUaServer("a", builder.Configuration.GetSection("A"));

        Assert.Throws<InvalidOperationException>(() => builder.Services.AddOpcUaServer(builder.Configuration));
        Assert.Throws<InvalidOperationException>(() => builder.Services.AddOpcUaServer("a", builder.Configuration.GetSection("B")));
    }

    [Fact]
    public async Task All_problems_of_the_section_are_named_and_the_host_does_not_start()
    {
        HostApplicationBuilder builder = Hosts.Create(
            ("Plant:Endpoints", "opc.tcp://127.0.0.1:0"),
            ("Plant:MaxSesions", "5"),
            ("Plant:MaxNodesPerRead", "many"),
            ("Plant:AllowAnonymous", "maybe"),
            ("Plant:HandshakeTimeout", "soon"),
            ("Plant:SecurityPolicies:0", "Rot13"),
            ("Plant:SecurityPolicies:1", "1"),
            ("Plant:ApplicationName:First", "x"),
            ("Plant:Certificates:Directori", "x"),
            ("Plant:Certificates:UnsafeTrustAll", "1"));
        builder.Services.AddOpcUaServer(builder.Configuration.GetSection("Plant"));
        using IHost host = builder.Build();

        OptionsValidationException wrong = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        string[] failures = [.. wrong.Failures];
        Assert.Contains(
            failures,
            static f => f.StartsWith("Plant:Endpoints is 'opc.tcp://127.0.0.1:0'; give a list of URIs: ", StringComparison.Ordinal));
        Assert.Contains("Plant:MaxNodesPerRead is 'many'; allowed: 1 to 10000000.", failures);
        Assert.Contains("Plant:AllowAnonymous is 'maybe'; allowed: true, false.", failures);
        Assert.Contains(
            "Plant:HandshakeTimeout is 'soon'; allowed: 00:00:00.1000000 to 1.00:00:00, written as hh:mm:ss, or as d.hh:mm:ss for a "
                + "day or more.",
            failures);
        const string Policies = "give a list; allowed: None, Basic256Sha256, Aes128Sha256RsaOaep, Aes256Sha256RsaPss.";
        Assert.Contains($"Plant:SecurityPolicies is 'Rot13'; {Policies}", failures);
        Assert.Contains($"Plant:SecurityPolicies is '1'; {Policies}", failures);
        Assert.Contains("Plant:ApplicationName is a section; give a name.", failures);
        Assert.Contains("Plant:Certificates:UnsafeTrustAll is '1'; allowed: true, false.", failures);
        Assert.Contains(
            failures, static f => f.StartsWith("Plant:MaxSesions is not a known key; known keys: Endpoints, ", StringComparison.Ordinal));
        Assert.Contains(
            failures,
            static f => f.StartsWith("Plant:Certificates:Directori is not a known key; known keys: Directory, ", StringComparison.Ordinal));
    }

    [Fact]
    public async Task An_empty_list_of_policies_is_refused_and_is_not_the_default_that_has_None()
    {
        // What a file of JSON gives for [].
        HostApplicationBuilder builder = Hosts.Create(
            ("OpcUaServer:Endpoints:0", "opc.tcp://127.0.0.1:0"), ("OpcUaServer:SecurityPolicies", string.Empty));
        builder.Services.AddOpcUaServer(builder.Configuration);
        using IHost host = builder.Build();

        OptionsValidationException wrong = await Assert.ThrowsAsync<OptionsValidationException>(() => host.StartAsync());

        Assert.Equal(
            "OpcUaServer:SecurityPolicies is empty; give a list; allowed: None, Basic256Sha256, Aes128Sha256RsaOaep, "
                + "Aes256Sha256RsaPss.",
            Assert.Single(wrong.Failures));
    }

    [Fact]
    public void Every_option_is_a_key_of_the_section()
    {
        // What only code can give: functions, and objects of the program.
        OptionKeys.AssertComplete<OpcUaServerOptions>(
            nameof(OpcUaServerOptions.ValidateUser),
            nameof(OpcUaServerOptions.ValidateUserCertificate),
            nameof(OpcUaServerOptions.Users),
            nameof(OpcUaServerOptions.AuthorizeVariable),
            nameof(OpcUaServerOptions.Bans));
    }

    private sealed class Boiler
    {
        public static readonly NodeId TemperatureId = new(2, 1);

        public VariableNode Temperature { get; private set; } = null!;

        public void AddTo(AddressSpace space)
        {
            ushort index = space.AddNamespace("urn:test:boiler");
            Temperature = space.AddVariable(AddressSpace.ObjectsFolder, TemperatureId, new QualifiedName(index, "Temperature"), 20.0);
        }
    }

    private sealed record Users(string Name, string Password)
    {
        public bool Has(string name, string password) => (name, password) == (Name, Password);
    }
}
