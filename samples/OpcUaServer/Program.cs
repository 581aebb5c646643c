using FastPort.OpcBridge.Simulation;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// Options are keys of section OpcUaServer, as in --OpcUaServer:Endpoints:0=opc.tcp://0.0.0.0:4840; users as in --Users:ann=secret.
HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
IConfigurationSection users = builder.Configuration.GetSection("Users");
builder.Services
    .AddOpcUaServer(builder.Configuration, (provider, space) => { _ = new SimulatedNodes(space); })
    .Configure(options =>
    {
        if (options.Endpoints.Count == 0)
        {
            options.Endpoints.Add("opc.tcp://127.0.0.1:4840");
        }

        if (users.Exists())
        {
            options.ValidateUser = (name, password, _) => ValueTask.FromResult(users[name] == password);
        }
    });
await builder.Build().RunAsync();
