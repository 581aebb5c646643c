using System.Buffers;
using System.IO.Pipelines;
using FastPort.Connections;
using Microsoft.Extensions.Logging;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>A protocol of lines over pipes, shown in docs/pipes.md.</summary>
internal static class PipeSnippets
{
    // docs: pipes
    public static ConnectionServer ServeLines(ConnectionServerOptions options, ILogger logger) =>
        new(options, _ => new PipeProtocol(EchoLinesAsync, logger));

    private static async Task EchoLinesAsync(IDuplexPipe pipe, Connection connection)
    {
        while (true)
        {
            ReadResult read = await pipe.Input.ReadAsync();
            ReadOnlySequence<byte> rest = read.Buffer;
            while (rest.PositionOf((byte)'\n') is { } end)
            {
                ReadOnlySequence<byte> line = rest.Slice(0, rest.GetPosition(1, end));
                foreach (ReadOnlyMemory<byte> segment in line)
                {
                    pipe.Output.Write(segment.Span);
                }

                rest = rest.Slice(line.End);
            }

            pipe.Input.AdvanceTo(rest.Start, rest.End);
            if ((await pipe.Output.FlushAsync()).IsCompleted || read.IsCompleted)
            {
                return;
            }
        }
    }

    // docs: end
}
