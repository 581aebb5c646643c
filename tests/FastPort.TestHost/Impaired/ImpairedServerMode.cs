using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// The server of <see cref="ImpairedClientMode"/>, in a network that it has for itself. Lines on standard input: "figures"; "closed N"
/// waits until N sessions have been closed; "heartbeats N" until each open session has received N more messages. Each is answered with
/// figures.
/// </summary>
internal static class ImpairedServerMode
{
    public const int Port = 6628;

    public static async Task RunAsync(TransportKind transport, TimeSpan heartbeat)
    {
        var options = new FastPortServerOptions { Transport = transport };
        options.Session.HeartbeatInterval = heartbeat;
        options.Endpoints.Add($"tcp://0.0.0.0:{Port}");
        var numbers = new HandledNumbers();
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(NumberedMessage.Request, (ref InlineRequest request) =>
            {
                byte[] body = request.Body.ToArray();
                numbers.Add(request.Session, body);
                request.Reply(NumberedMessage.Reply(body));
            })
            .MapInline(NumberedMessage.Post, (ref InlineRequest request) => numbers.Add(request.Session, request.Body.ToArray()))
            .MapInline(NumberedMessage.Account, (ref InlineRequest request) =>
                request.Reply(numbers.Times(BinaryPrimitives.ReadInt32LittleEndian(request.Body.ToArray()))));
        await using var server = new FastPortServer(options, handlers);
        var ends = new SessionEnds();
        server.SessionClosed += (_, reason) => ends.Add(reason);
        await server.StartAsync();
        Console.WriteLine($"port={Port}");
        while (Console.ReadLine() is { } line)
        {
            switch (line.Split(' '))
            {
                case ["closed", var count]:
                    await ends.WhenAsync(int.Parse(count, CultureInfo.InvariantCulture));
                    break;
                case ["heartbeats", var count]:
                    await Heartbeats.WaitAsync(server.Sessions, int.Parse(count, CultureInfo.InvariantCulture));
                    break;
            }

            Console.WriteLine(
                $"{numbers.Figures()} open={server.Sessions.Count} closed={ends.Count} heartbeatTimeouts={ends.ByHeartbeat}");
        }
    }
}
