using Company.My_Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// With --server tcp://127.0.0.1:7007, the program is a client, which sends the typed lines. Other arguments are settings of the server.
if (args is ["--server", var uri])
{
    await LineClient.RunAsync(uri, Console.In, Console.Out);
    return;
}

var settings = new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory };
HostApplicationBuilder builder = Host.CreateApplicationBuilder(settings);
builder.Services.AddConnectionServer(builder.Configuration, (_, connection) => LineProtocol.Answer(connection));
await builder.Build().RunAsync();
