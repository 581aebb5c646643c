using System.Net;
using System.Net.Sockets;

namespace ThreeNodes.Processes;

/// <summary>Ports of 127.0.0.1 for programs that have to be told theirs.</summary>
internal static class Ports
{
    /// <summary>So many ports that nobody uses at this moment, each another.</summary>
    public static int[] Free(int count)
    {
        TcpListener[] listeners = [.. Enumerable.Range(0, count).Select(_ => new TcpListener(IPAddress.Loopback, 0))];
        try
        {
            // All are held until the last is found, so that none is given twice.
            return [.. listeners.Select(static listener =>
            {
                listener.Start();
                return ((IPEndPoint)listener.LocalEndpoint).Port;
            })];
        }
        finally
        {
            foreach (TcpListener listener in listeners)
            {
                listener.Dispose();
            }
        }
    }
}
