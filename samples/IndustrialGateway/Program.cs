using FastPort.Protocol;
using IndustrialGateway;
using IndustrialGateway.Monitoring;
using IndustrialGateway.Tags;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

bool isDemo = args.Contains("--demo");

// Read the settings in the program's directory, not in the working directory: the repository's root has settings of another program.
HostApplicationBuilder builder = Host.CreateApplicationBuilder(
    new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
builder.Configuration.AddJsonFile("gatewaysettings.json").AddEnvironmentVariables().AddCommandLine([.. args.Where(a => a != "--demo")]);

// docs: registration
builder.Services.AddSingleton(TimeProvider.System);
builder.Services.AddSingleton(GatewayOptions.Read(builder.Configuration));
builder.Services.AddSingleton<TagStore>();
builder.Services.AddScoped<DeviceLink>();
builder.Services.AddSingleton<HealthMonitor>();
builder.Services.AddHostedService<HealthReporter>();
builder.Services
    .AddFastPort(builder.Configuration, options =>
    {
        if (isDemo)
        {
            // Any free port: a demo must not block the port of a real gateway.
            options.Endpoints = ["tcp://127.0.0.1:0"];
        }
    })

    // For the health report. No section LatencyStats is configured, so there are no latency reports on console and disk.
    .MeasureLatencies()
    .MapService<GatewayService>();

// docs: end
using IHost host = builder.Build();
if (!isDemo)
{
    await host.RunAsync();
    return 0;
}

await host.StartAsync();
bool isGood = await Demo.RunAsync(host);
Console.WriteLine(isGood ? "demo: good" : "demo: failed");
return isGood ? 0 : 1;
