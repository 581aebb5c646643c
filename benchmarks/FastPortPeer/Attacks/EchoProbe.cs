using System.Diagnostics;

namespace FastPortPeer.Attacks;

/// <summary>
/// Connections that mind their own business: each echoes in lock-step on a thread of its own, and what counts is the longest round trip
/// of all.
/// </summary>
internal sealed class EchoProbe : IDisposable
{
    private const int Connections = 8;
    private const ushort Echo = 0x0100;

    private readonly RawConnection[] _connections;
    private long _echoes;

    public EchoProbe(string endpoint) => _connections = [.. Enumerable.Range(0, Connections).Select(_ => new RawConnection(endpoint))];

    /// <summary>Round trips so far.</summary>
    public long Echoes => Interlocked.Read(ref _echoes);

    /// <summary>Echoes for so long and waits for the last answers.</summary>
    /// <returns>The longest round trip.</returns>
    public TimeSpan Longest(TimeSpan duration)
    {
        var longest = new TimeSpan[Connections];
        Exception? failed = null;
        Thread[] threads = [.. Enumerable.Range(0, Connections).Select(i => new Thread(() =>
        {
            try
            {
                longest[i] = LongestOf(_connections[i], duration);
            }
            catch (Exception exception)
            {
                failed = exception;
            }
        }))];
        Array.ForEach(threads, static thread => thread.Start());
        Array.ForEach(threads, static thread => thread.Join());
        return failed is null ? longest.Max() : throw new PeerException($"An echo failed: {failed.Message}", failed);
    }

    public void Dispose() => Array.ForEach(_connections, static connection => connection.Dispose());

    private TimeSpan LongestOf(RawConnection connection, TimeSpan duration)
    {
        byte[] request = RawConnection.Frame(Echo, RawConnection.Text("hello"u8), 1);
        TimeSpan longest = TimeSpan.Zero;
        long begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun) < duration)
        {
            long sent = Stopwatch.GetTimestamp();
            connection.Send(request);
            connection.SkipFrame();
            TimeSpan took = Stopwatch.GetElapsedTime(sent);
            longest = took > longest ? took : longest;
            Interlocked.Increment(ref _echoes);
        }

        return longest;
    }
}
