using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OwnMessages;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddFastPort(builder.Configuration).MapService<PlayerService>();
builder.Services.AddFastPortDashboard(builder.Configuration);
await builder.Build().RunAsync();
