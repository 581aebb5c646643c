using System.Collections.Concurrent;
using FastPort;
using FastPort.Connections;
using FastPort.Transports;
using Microsoft.Extensions.Logging.Abstractions;

// Server: answers every line in capitals.
var options = new ConnectionServerOptions { Endpoints = { args.FirstOrDefault("line://127.0.0.1") } };
var components = new ConnectionServerComponents();
components.Transports.MapScheme("line", over: "tcp", defaultPort: 7007);
static IConnectionProtocol Answer(Connection c) => new LineProtocol(c, static (lines, line) => lines.Send(line.ToUpperInvariant()));
await using var server = new ConnectionServer(options, Answer, components);
await server.StartAsync();
Console.WriteLine($"listening on {server.Endpoints[0]}; type lines to send");

// Client: sends the typed lines and prints the answers, until either the input or the connection ends.
using var clock = new ConnectionClock();
var settings = new ConnectionSettings { Clock = clock, Logger = NullLogger.Instance };
TransportCollection transports = TransportCollection.CreateShared().MapScheme("line", over: "tcp", defaultPort: 7007);
Connection connection = await transports.CreateConnector(server.Endpoints[0], settings).ConnectAsync(CancellationToken.None);
using var answers = new BlockingCollection<string>();
var client = new LineProtocol(connection, (_, line) => answers.Add(line), answers.CompleteAdding);
connection.Start(client);
while (Console.ReadLine() is { } line && client.Send(line) && answers.TryTake(out string? answer, Timeout.Infinite))
{
    Console.WriteLine(answer);
}

connection.Close(CloseReason.LocalClosed);
await connection.Closed;
