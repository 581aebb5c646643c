using System.Net;
using System.Net.Sockets;

namespace ThreeNodes.Processes;

/// <summary>Ports of 127.0.0.1 for programs that have to be told theirs.</summary>
internal static class Ports
{
    // Below those that systems give to whoever asks for any port: a node's must still be free when it has been restarted.
    private const int First = 20_000;
    private const int End = 32_000;

    /// <summary>So many ports that nobody uses at this moment, each another.</summary>
    public static int[] Free(int count)
    {
        Dictionary<int, TcpListener> held = [];
        try
        {
            // All are held until the last is found, so that none is given twice.
            while (held.Count < count)
            {
                int port = Random.Shared.Next(First, End);
                if (!held.ContainsKey(port) && TryListen(port) is { } listener)
                {
                    held.Add(port, listener);
                }
            }

            return [.. held.Keys];
        }
        finally
        {
            foreach (TcpListener listener in held.Values)
            {
                listener.Dispose();
            }
        }
    }

    private static TcpListener? TryListen(int port)
    {
        var listener = new TcpListener(IPAddress.Loopback, port);
        try
        {
            listener.Start();
            return listener;
        }
        catch (SocketException)
        {
            // In use, or not allowed.
            listener.Dispose();
            return null;
        }
    }
}
