using Company.My_Server;
using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// Settings come from appsettings.json beside the program, the environment (FastPort__Endpoints__0=tcp://*:6628) and the arguments.
var settings = new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory };
HostApplicationBuilder builder = Host.CreateApplicationBuilder(settings);
builder.Services.AddFastPort(builder.Configuration).MapService<GreeterService>();
await builder.Build().RunAsync();
