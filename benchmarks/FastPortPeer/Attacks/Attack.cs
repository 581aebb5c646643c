using System.Net.Sockets;
using FastPort.Framing;

namespace FastPortPeer.Attacks;

/// <summary>What one stranger, or a few, do to a server. To add another: one more entry of <see cref="All"/>.</summary>
/// <param name="Name">Name on the command line and in reports.</param>
/// <param name="Description">What is done, as a sentence.</param>
/// <param name="Flooders">Connections that send <see cref="Frames"/> for as long as the attack lasts.</param>
/// <param name="Frames">What each of them sends, again and again: some frames in a row.</param>
internal sealed record Attack(string Name, string Description, int Flooders, byte[][] Frames)
{
    private const int BlockBytes = 1024 * 1024;
    private const int LongestTopic = 256;

    /// <summary>Whether each flooder sends its frames once, leaves, and comes again on a new connection.</summary>
    public bool ConnectsAnew { get; init; }

    /// <summary>What its accomplices send before; one connection each.</summary>
    public IReadOnlyList<byte[]> Accomplices { get; init; } = [];

    /// <summary>Whether they leave in the middle of the attack, all at once.</summary>
    public bool AccomplicesLeave { get; init; }

    public static IReadOnlyList<Attack> All { get; } =
    [
        new(
            "nested-topics",
            "40 sessions subscribe to all prefixes of one topic of 256 bytes, and one publishes there",
            1,
            [RawConnection.Frame(ControlType.Publish, Topic(LongestTopic))])
        {
            Accomplices = [.. Enumerable.Repeat<byte[]>([.. Enumerable.Range(1, LongestTopic).SelectMany(static n => Subscribe(n))], 40)],
        },
        new(
            "topic-changes",
            "4 sessions subscribe and unsubscribe topics of 256 bytes among 24,000 others, and the 25 sessions that have these leave",
            4,
            [Subscribe(LongestTopic), RawConnection.Frame(ControlType.Unsubscribe, Topic(LongestTopic))])
        {
            // At each of 256 bytes 94 others branch off.
            Accomplices = [.. Enumerable.Range(0, LongestTopic)
                .SelectMany(static n => Enumerable.Range(' ', 95).Where(static c => c != 'a').Select(c => Subscribe(n, (byte)c)))
                .Chunk(1000).Select(static chunk => chunk.SelectMany(static frame => frame).ToArray())],
            AccomplicesLeave = true,
        },
        new(
            "control-frames",
            "4 sessions send Cancel for requests that never were, and Pings",
            4,
            [
                RawConnection.Frame(ControlType.Cancel, []), RawConnection.Frame(ControlType.Cancel, [0x08, 7]),
                RawConnection.Frame(ControlType.Ping, []),
            ]),
        new(
            "log-flood",
            "4 peers connect again and again, and each time send an error that answers nothing, with 1 MB of lines for the log",
            4,
            [RawConnection.ErrorFrame(1, LinesForTheLog(1_000_000))])
        {
            ConnectsAnew = true,
        },
    ];

    /// <summary>Attacks until it is told to stop.</summary>
    /// <param name="endpoint">The server.</param>
    /// <param name="during">Called when the accomplices are ready, with what stops the attack; the attack goes on until it returns.</param>
    public void Run(string endpoint, Action during)
    {
        var accomplices = new List<RawConnection>();
        foreach (byte[] bytes in Accomplices)
        {
            // The reply to the Ping says that all before it was handled. What else comes is left unread.
            accomplices.Add(new RawConnection(endpoint));
            accomplices[^1].Send([.. bytes, .. RawConnection.Frame(ControlType.Ping, [], 1)]);
            accomplices[^1].SkipFrame();
        }

        byte[] frames = [.. Frames.SelectMany(static frame => frame)];
        byte[] block = [.. Enumerable.Repeat(frames, Math.Max(1, BlockBytes / frames.Length)).SelectMany(static f => f)];
        bool stops = false;
        var flooders = new RawConnection[ConnectsAnew ? 0 : Flooders];
        for (int i = 0; i < flooders.Length; i++)
        {
            flooders[i] = new RawConnection(endpoint);
        }

        Thread[] threads = ConnectsAnew
            ? [.. Enumerable.Range(0, Flooders).Select(_ => new Thread(() => FloodAnew(endpoint, frames, ref stops)))]
            : [.. flooders.Select(flooder => new Thread(() => Flood(flooder, block, ref stops)))];
        foreach (Thread thread in threads)
        {
            thread.Start();
        }

        Thread? leaving = AccomplicesLeave ? new Thread(() => accomplices.ForEach(static a => a.Dispose())) : null;
        leaving?.Start();
        during();
        leaving?.Join();
        Volatile.Write(ref stops, true);
        foreach (RawConnection flooder in flooders)
        {
            flooder.Dispose();
        }

        foreach (Thread thread in threads)
        {
            thread.Join();
        }

        accomplices.ForEach(static a => a.Dispose());
    }

    private static void Flood(RawConnection flooder, byte[] block, ref bool stops)
    {
        try
        {
            while (!Volatile.Read(ref stops))
            {
                flooder.Send(block);
            }
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
        {
            // Ended: by this program, or by the server, which is a defense too.
        }
    }

    private static void FloodAnew(string endpoint, byte[] frames, ref bool stops)
    {
        while (!Volatile.Read(ref stops))
        {
            try
            {
                using var flooder = new RawConnection(endpoint);
                flooder.Send(frames);
                flooder.Leave();
            }
            catch (Exception exception) when (exception is SocketException or PeerException)
            {
                // Refused or cut off by the server, which is a defense.
            }
        }
    }

    // Forged log lines, and what moves a terminal's cursor.
    private static byte[] LinesForTheLog(int size)
    {
        byte[] line = [.. "\n12:00:00.000 ERR forged \r\u001b[2J\u0085\u2028\\"u8];
        return [.. Enumerable.Repeat(line, (size / line.Length) + 1).SelectMany(static bytes => bytes).Take(size)];
    }

    private static byte[] Subscribe(int length, params byte[] last) => RawConnection.Frame(ControlType.Subscribe, Topic(length, last));

    private static byte[] Topic(int length, params byte[] last) => RawConnection.Text([.. Enumerable.Repeat((byte)'a', length), .. last]);
}
