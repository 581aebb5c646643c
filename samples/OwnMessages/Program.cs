using FastPort;
using FastPort.Protocol;
using OwnMessages;

const ushort MoveType = 0x1000;

await using var server = new FastPortServer(new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } });
server.Handlers.MapInline(MoveType, Move.Parser, (move, session) => new Position { X = 10 + move.Dx, Y = 10 + move.Dy });
await server.StartAsync();

await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString() });
await client.ConnectAsync();
Position position = await client.RequestAsync(MoveType, new Move { Dx = 3, Dy = -4 }, Position.Parser);
Console.WriteLine($"at {position.X}, {position.Y}");
