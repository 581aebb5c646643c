using System.Threading.Channels;

namespace PeerSupport;

/// <summary>
/// Lines of standard input, read by a thread of their own: the console's reader blocks, and the pool may have one thread only. Whoever
/// started this process holds the other end: when that goes, the lines end and so should the process.
/// </summary>
public static class InputLines
{
    public static ChannelReader<string> Start()
    {
        var lines = Channel.CreateUnbounded<string>(new UnboundedChannelOptions { SingleReader = true, SingleWriter = true });
        var thread = new Thread(() =>
        {
            while (Console.In.ReadLine() is { } line)
            {
                lines.Writer.TryWrite(line);
            }

            lines.Writer.Complete();
        })
        {
            IsBackground = true,
            Name = "standard input",
        };
        thread.Start();
        return lines.Reader;
    }
}
