using FastPort.Protocol;
using GameServer;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

bool isDemo = args.Contains("--demo");

// Read the settings in the program's directory, not in the working directory: the repository's root has settings of another program.
HostApplicationBuilder builder = Host.CreateApplicationBuilder(
    new HostApplicationBuilderSettings { ContentRootPath = AppContext.BaseDirectory });
builder.Configuration.AddJsonFile("gamesettings.json").AddEnvironmentVariables().AddCommandLine([.. args.Where(a => a != "--demo")]);

// docs: registration
builder.Services.AddSingleton(GameOptions.Read(builder.Configuration));
builder.Services.AddSingleton<GameInbox>();
builder.Services.AddSingleton<GameLoop>();
builder.Services.AddHostedService(services => services.GetRequiredService<GameLoop>());
builder.Services
    .AddFastPort(builder.Configuration, options =>
    {
        if (isDemo)
        {
            // Any free port: a demo must not block the port of a real server.
            options.Endpoints = ["tcp://127.0.0.1:0"];
        }
    })
    .MapService<GameService>(ServiceLifetime.Singleton);

// docs: end
using IHost host = builder.Build();
if (!isDemo)
{
    await host.RunAsync();
    return 0;
}

await host.StartAsync();
bool isGood = await Demo.RunAsync(host.Services);
await host.StopAsync();
Console.WriteLine(isGood ? "demo: good" : "demo: failed");
return isGood ? 0 : 1;
