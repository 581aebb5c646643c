using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.Services
    .AddFastPort(builder.Configuration)
    .Map(handlers => handlers.MapInline(0x1000, Echo.Parser, (echo, session) => new Echo { Payload = echo.Payload }));
await builder.Build().RunAsync();
