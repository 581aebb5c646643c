using FastPort;
using FastPort.Protocol;

var options = new FastPortServerOptions { Endpoints = { args.FirstOrDefault("tcp://127.0.0.1:6628") } };
await using var server = new FastPortServer(options);
server.Handlers.MapInline(0x1000, Echo.Parser, (echo, session) => new Echo { Payload = echo.Payload });
await server.StartAsync();
Console.WriteLine($"listening on {server.Endpoints[0]}; Enter ends");
Console.ReadLine();
