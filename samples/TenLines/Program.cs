using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.Protocol;
using FastPort.Protocol.Handlers;

var handlers = new MessageHandlers().MapInline(0x1000, Echo.Parser, (echo, session) => new Echo { Payload = echo.Payload });
var options = new FastPortServerOptions { Endpoints = { args.FirstOrDefault("tcp://127.0.0.1:6628") } };
await using var server = new FastPortServer(options, handlers);
await server.StartAsync();
Console.WriteLine($"listening on {server.Endpoints[0]}; Enter ends");
Console.ReadLine();
