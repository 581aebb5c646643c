using FastPort.Connections;
using FastPort.Transports.Sockets;

namespace FastPort.TestHost;

/// <summary>
/// A server whose sockets complete on the runtime's only polling thread. It sends back what it receives; a connection that is sent a 0 is
/// offered that again and again, without an end.
/// </summary>
internal static class InlineMode
{
    public static async Task RunAsync()
    {
        Environment.SetEnvironmentVariable("DOTNET_SYSTEM_NET_SOCKETS_THREAD_COUNT", "1");
        SocketTransport.UnsafeUseInlineCompletions();
        var options = new ConnectionServerOptions { Endpoints = ["tcp://127.0.0.1:0"], Transport = TransportKind.Sockets };
        options.ShutdownTimeout = TimeSpan.Zero;
        await using var server = new ConnectionServer(options, static connection => new Offered(connection));
        await server.StartAsync();
        Console.WriteLine($"port={server.Endpoints[0].Port}");
        Console.ReadLine();
    }

    private sealed class Offered(Connection connection) : IConnectionProtocol
    {
        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            if (input.FirstReadableSpan is [0, ..])
            {
                connection.ResumeReading();
                return ReceiveOutcome.Pause;
            }

            if (connection.BeginWrite() is { } output)
            {
                output.Write(input.FirstReadableSpan);
                connection.EndWrite();
            }

            input.Consume(input.FirstReadableSpan.Length);
            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated) => connection.Close(CloseReason.PeerClosed);

        public void OnClosed(CloseReason reason)
        {
        }
    }
}
