using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services.AddFastPort(builder.Configuration)
    .Map(static handlers => handlers.MapDiagnostics())
    .AddSecurity(builder.Configuration)
    .AddRedisBackplane(builder.Configuration);
builder.Services.AddFastPortDashboard(builder.Configuration);
await builder.Build().RunAsync();
