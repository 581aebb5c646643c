using FastPort;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OwnMessages;

HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
builder.AddFastPortClient("game");
using IHost host = builder.Build();
await host.StartAsync();

var player = new PlayerClient(host.Services.GetRequiredService<IFastPortClient>());
Position position = await player.MoveAsync(new Step { Dx = 3, Dy = -4 });
Console.WriteLine($"at {position.X}, {position.Y}");
await host.WaitForShutdownAsync();
