using FastPort;
using FastPort.Protocol;

// Diagnostics and the whole of routing. The only argument is the endpoint; the end of standard input ends the server.
var options = new FastPortServerOptions { Endpoints = { args.FirstOrDefault("tcp://127.0.0.1:0") } };
options.Routing.Relay = options.Routing.Topics = options.Routing.Peers = true;
await using var server = new FastPortServer(options, new MessageHandlers().MapDiagnostics());
await server.StartAsync();
Console.WriteLine($"listening on {server.Endpoints[0]}");
while (Console.ReadLine() is not null)
{
}
