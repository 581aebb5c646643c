using System.Collections.Concurrent;
using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Transports;
using FastPort.Transports.Sockets;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>A listener whose connections are served through pipes by one handler.</summary>
internal sealed class PipeServer : IAsyncDisposable
{
    private readonly ConnectionClock _clock = new();
    private readonly ConcurrentQueue<Connection> _accepted = new();
    private readonly ITransportListener _listener;

    public PipeServer(Func<IDuplexPipe, Connection, Task> handler, int bound = PipeProtocol.DefaultBytes, int maxSendBytes = 4 * 1024 * 1024)
    {
        var settings = new ConnectionSettings { Clock = _clock, Logger = Log, MaxSendBytes = maxSendBytes };
        _listener = new SocketTransport().CreateListener(Endpoint.Parse("tcp://127.0.0.1:0"), settings);
        _listener.Start(connection =>
        {
            _accepted.Enqueue(connection);
            connection.Start(new PipeProtocol(handler, Log, bound, bound));
        });
    }

    public RecordingLog Log { get; } = new();

    public async Task<Socket> ConnectAsync(int receiveBuffer = 0)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        if (receiveBuffer != 0)
        {
            socket.ReceiveBufferSize = receiveBuffer;
        }

        await socket.ConnectAsync(new IPEndPoint(IPAddress.Loopback, _listener.Endpoint.Port), Patience.Token);
        return socket;
    }

    public async Task<Connection> ConnectionAsync()
    {
        await Patience.UntilAsync(() => !_accepted.IsEmpty, "a connection was accepted");
        return Assert.Single(_accepted);
    }

    public async Task<CloseReason> CloseReasonAsync() => await (await ConnectionAsync()).Closed.InTimeAsync();

    public static async Task<byte[]> ReadToEndAsync(Socket socket)
    {
        using var given = new MemoryStream();
        byte[] buffer = new byte[64 * 1024];
        int read;
        while ((read = await socket.ReceiveAsync(buffer, SocketFlags.None, Patience.Token)) != 0)
        {
            given.Write(buffer, 0, read);
        }

        return given.ToArray();
    }

    public static async Task SendAllAsync(Socket socket, ReadOnlyMemory<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            bytes = bytes[await socket.SendAsync(bytes, SocketFlags.None, Patience.Token)..];
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _listener.DisposeAsync();
        foreach (Connection connection in _accepted)
        {
            connection.Abort(new CloseReason(CloseKind.Stopping, "The test is over."));
            await connection.Closed.InTimeAsync();
        }

        _clock.Dispose();
        Log.Dispose();
    }
}
