using System.Net;
using System.Net.Sockets;
using FastPort.Conformance.Wire;

namespace FastPort.Conformance.Tests.Faults;

/// <summary>What a wire makes of the client's frames, and sends to it by itself. One for each case.</summary>
internal abstract class Fault
{
    /// <summary>What the server gets in place of a frame of the client.</summary>
    /// <param name="connection">The number of the connection, from 1.</param>
    /// <param name="frame">The client's frame.</param>
    public abstract IEnumerable<Frame> OfClient(int connection, Frame frame);

    /// <summary>What the client gets in place of a frame of the server.</summary>
    /// <param name="frame">The server's frame.</param>
    public virtual IEnumerable<Frame> OfServer(Frame frame) => [frame];

    /// <summary>What the server gets when a frame was passed to the client.</summary>
    /// <param name="frame">The server's frame.</param>
    public virtual IEnumerable<Frame> AfterServer(Frame frame) => [];
}

/// <summary>A relay between a client and its server that makes a wrong client of a right one.</summary>
internal sealed class FaultyWire : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly List<Socket> _sockets = [];
    private readonly IPEndPoint _target;
    private readonly Fault _fault;

    public FaultyWire(Endpoint target, Fault fault)
    {
        _target = new IPEndPoint(IPAddress.Parse(target.Host), target.Port);
        _fault = fault;
        _listener.Start();
        _ = AcceptAsync();
    }

    public string Endpoint => $"tcp://{_listener.LocalEndpoint}";

    public void Dispose()
    {
        _listener.Dispose();
        lock (_sockets)
        {
            _sockets.ForEach(static socket => socket.Dispose());
        }
    }

    private async Task AcceptAsync()
    {
        try
        {
            for (int number = 1; ; number++)
            {
                _ = RelayAsync(number, await _listener.AcceptSocketAsync());
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The case is over.
        }
    }

    private async Task RelayAsync(int number, Socket client)
    {
        var server = new Socket(SocketType.Stream, ProtocolType.Tcp);
        lock (_sockets)
        {
            _sockets.AddRange([client, server]);
        }

        try
        {
            await server.ConnectAsync(_target);
            await Task.WhenAll(
                PassAsync(client, server, frame => Write(server, _fault.OfClient(number, frame))),
                PassAsync(server, client, frame =>
                {
                    Write(client, _fault.OfServer(frame));
                    Write(server, _fault.AfterServer(frame));
                }));
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            client.Dispose();
            server.Dispose();
        }
    }

    private static async Task PassAsync(Socket from, Socket to, Action<Frame> pass)
    {
        byte[] buffer = new byte[64 * 1024];
        byte[] rest = [];
        int count;
        while ((count = await from.ReceiveAsync(buffer)) != 0)
        {
            rest = [.. rest, .. buffer.AsSpan(0, count)];
            Take(ref rest, pass);
        }

        to.Shutdown(SocketShutdown.Send);
    }

    private static void Take(ref byte[] bytes, Action<Frame> pass)
    {
        ReadOnlySpan<byte> unread = bytes;
        while (Frame.TryTake(ref unread) is { } frame)
        {
            pass(frame);
        }

        bytes = unread.ToArray();
    }

    private static void Write(Socket to, IEnumerable<Frame> frames)
    {
        byte[] bytes = [.. frames.SelectMany(static frame => frame.ToBytes())];
        lock (to)
        {
            to.Send(bytes);
        }
    }
}
