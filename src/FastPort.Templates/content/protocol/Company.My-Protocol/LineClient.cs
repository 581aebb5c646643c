using System.Threading.Channels;
using FastPort;
using FastPort.Connections;
using FastPort.Transports;
using Microsoft.Extensions.Logging.Abstractions;

namespace Company.My_Protocol;

public static class LineClient
{
    /// <summary>Sends each line of the input and writes its answer, until the input or the connection ends.</summary>
    public static async Task RunAsync(string server, TextReader input, TextWriter output, CancellationToken cancellationToken = default)
    {
        using var clock = new ConnectionClock();
        var settings = new ConnectionSettings { Clock = clock, Logger = NullLogger.Instance };
        Channel<string?> answers = Channel.CreateUnbounded<string?>();
        Connection connection = await TransportCollection.CreateShared()
            .CreateConnector(Endpoint.Parse(server), settings).ConnectAsync(cancellationToken);
        var lines = new LineProtocol(connection, (_, line) => answers.Writer.TryWrite(line));
        connection.Start(lines);
        while (lines.Send(await input.ReadLineAsync(cancellationToken)) && await answers.Reader.ReadAsync(cancellationToken) is { } answer)
        {
            await output.WriteLineAsync(answer);
        }

        connection.Close(CloseReason.LocalClosed);
        await connection.Closed;
    }
}
