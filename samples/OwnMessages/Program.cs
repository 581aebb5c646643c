using FastPort;
using FastPort.Protocol;
using OwnMessages;

await using var server = new FastPortServer(new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } });
server.Handlers.MapService(new PlayerService());
await server.StartAsync();

await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString() });
await client.ConnectAsync();
var player = new PlayerClient(client);
Position position = await player.MoveAsync(new Step { Dx = 3, Dy = -4 });
Console.WriteLine($"at {position.X}, {position.Y}");
