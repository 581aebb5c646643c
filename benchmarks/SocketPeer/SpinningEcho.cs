using System.Net.Sockets;

namespace SocketPeer;

/// <summary>
/// The same echo by one thread that asks every connection's socket again and again and never sleeps while there is one: what the runtime's
/// sockets cost when nothing has to be woken. For few connections and messages that a socket takes at once.
/// </summary>
internal static class SpinningEcho
{
    private const int BufferBytes = 256 * 1024;

    // New connections are looked for now and then only: it costs a call.
    private const uint RoundsBetweenAccepts = 0x10000;

    public static void Run(Socket listener)
    {
        byte[] buffer = GC.AllocateUninitializedArray<byte>(BufferBytes, pinned: true);
        var connections = new List<Socket>();
        for (uint round = 0; ; round++)
        {
            if (connections.Count == 0 || (round % RoundsBetweenAccepts == 0 && listener.Poll(0, SelectMode.SelectRead)))
            {
                Socket socket = listener.Accept();
                socket.NoDelay = true;
                socket.Blocking = false;
                connections.Add(socket);
            }

            for (int i = connections.Count - 1; i >= 0; i--)
            {
                if (!TryEcho(connections[i], buffer))
                {
                    connections[i].Dispose();
                    connections.RemoveAt(i);
                }
            }
        }
    }

    private static bool TryEcho(Socket socket, byte[] buffer)
    {
        int count = socket.Receive(buffer, SocketFlags.None, out SocketError error);
        if (error == SocketError.WouldBlock)
        {
            return true;
        }

        int sent = 0;
        while (error == SocketError.Success && sent < count)
        {
            sent += socket.Send(buffer.AsSpan(sent, count - sent), SocketFlags.None, out error);
            if (error == SocketError.WouldBlock)
            {
                error = SocketError.Success;
            }
        }

        return count > 0 && error == SocketError.Success;
    }
}
