using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// Options are keys of section OpcUaServer, as in --OpcUaServer:Endpoints:0=opc.tcp://0.0.0.0:4840; users as in --Users:ann=secret. Clients
// without a user may come, too, unless there is --OpcUaServer:AllowAnonymous=false.
HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);

// Keys of a configuration have no case; names of users do.
var users = builder.Configuration.GetSection("Users").GetChildren().Where(static user => user.Value is not null)
    .ToDictionary(static user => user.Key, static user => Encoding.UTF8.GetBytes(user.Value!), StringComparer.Ordinal);
builder.Services
    .AddOpcUaServer(builder.Configuration, (provider, space) => { _ = new Plant(space); })
    .Configure(options =>
    {
        if (options.Endpoints.Count == 0)
        {
            options.Endpoints.Add("opc.tcp://127.0.0.1:4840");
        }

        if (users.Count != 0)
        {
            options.ValidateUser = (name, password, _) => ValueTask.FromResult(
                users.TryGetValue(name, out byte[]? known)
                && CryptographicOperations.FixedTimeEquals(known, Encoding.UTF8.GetBytes(password)));
        }
    });
await builder.Build().RunAsync();
