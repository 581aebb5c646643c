using System.Net.Sockets;

namespace SocketPeer;

/// <summary>
/// Echoes bytes as they come with the runtime's own sockets and nothing else: no frames, one buffer a connection, received into and sent
/// from. Whether completions run on the sockets' own threads is the runtime's switch (DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS).
/// </summary>
internal sealed class EventEcho
{
    private const int BufferBytes = 256 * 1024;

    private readonly Socket _socket;
    private readonly byte[] _buffer = GC.AllocateUninitializedArray<byte>(BufferBytes, pinned: true);
    private readonly SocketAsyncEventArgs _event = new();
    private bool _sending;

    private EventEcho(Socket socket)
    {
        _socket = socket;
        _event.Completed += (_, _) => Run(completed: true);
    }

    /// <summary>Accepts connections until the process ends.</summary>
    public static void Start(Socket listener)
    {
        var accept = new SocketAsyncEventArgs();
        accept.Completed += (_, _) => Accept(listener, accept, completed: true);
        Accept(listener, accept, completed: false);
    }

    private static void Accept(Socket listener, SocketAsyncEventArgs accept, bool completed)
    {
        while (completed || !listener.AcceptAsync(accept))
        {
            completed = false;
            if (accept.AcceptSocket is { } socket && accept.SocketError == SocketError.Success)
            {
                socket.NoDelay = true;
                var echo = new EventEcho(socket);
                ThreadPool.UnsafeQueueUserWorkItem(static e => e.Run(completed: false), echo, preferLocal: false);
            }

            accept.AcceptSocket = null;
        }
    }

    private void Run(bool completed)
    {
        while (true)
        {
            if (!completed)
            {
                if (!_sending)
                {
                    _event.SetBuffer(_buffer, 0, BufferBytes);
                }

                if (_sending ? _socket.SendAsync(_event) : _socket.ReceiveAsync(_event))
                {
                    return;
                }
            }

            completed = false;
            if (_event.SocketError != SocketError.Success || _event.BytesTransferred == 0)
            {
                _socket.Dispose();
                _event.Dispose();
                return;
            }

            if (!_sending)
            {
                _event.SetBuffer(0, _event.BytesTransferred);
                _sending = true;
            }
            else if (_event.BytesTransferred < _event.Count)
            {
                _event.SetBuffer(_event.Offset + _event.BytesTransferred, _event.Count - _event.BytesTransferred);
            }
            else
            {
                _sending = false;
            }
        }
    }
}
