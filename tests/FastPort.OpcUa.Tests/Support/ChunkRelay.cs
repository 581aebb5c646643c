using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>Stands between one client and a server, and does what it likes with the client's chunks.</summary>
internal sealed class ChunkRelay : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly Task _running;

    /// <param name="server">The server.</param>
    /// <param name="change">What is sent instead of a chunk, by its type and its number of that type, from 1.</param>
    public ChunkRelay(TestServer server, Func<uint, int, byte[], byte[][]> change)
    {
        _listener.Start();
        _running = RunAsync(server, change);
    }

    public string Url => $"opc.tcp://{_listener.LocalEndpoint}/test";

    public async ValueTask DisposeAsync()
    {
        await _running.InTimeAsync();
        _listener.Dispose();
    }

    private async Task RunAsync(TestServer server, Func<uint, int, byte[], byte[][]> change)
    {
        using TcpClient client = await _listener.AcceptTcpClientAsync(Patience.Token);
        using var upstream = new TcpClient();
        await upstream.ConnectAsync(server.Server.Endpoints[0].Host, server.Server.Endpoints[0].Port);
        Task back = BackAsync(upstream, client);
        try
        {
            await ForwardAsync(client.GetStream(), upstream.GetStream(), change);
        }
        catch (IOException)
        {
            // One of them has ended.
        }

        upstream.Close();
        await back;
    }

    private static async Task ForwardAsync(NetworkStream from, NetworkStream to, Func<uint, int, byte[], byte[][]> change)
    {
        Dictionary<uint, int> seen = [];
        byte[] header = new byte[8];
        while (await from.ReadAtLeastAsync(header, header.Length, throwOnEndOfStream: false) == header.Length)
        {
            byte[] chunk = new byte[BinaryPrimitives.ReadInt32LittleEndian(header.AsSpan(4))];
            header.CopyTo(chunk, 0);
            await from.ReadExactlyAsync(chunk.AsMemory(8));
            uint type = BinaryPrimitives.ReadUInt32LittleEndian(header);
            seen[type] = seen.GetValueOrDefault(type) + 1;
            foreach (byte[] instead in change(type, seen[type], chunk))
            {
                await to.WriteAsync(instead);
            }
        }
    }

    private static async Task BackAsync(TcpClient from, TcpClient to)
    {
        try
        {
            await from.GetStream().CopyToAsync(to.GetStream());
            to.Client.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is IOException or SocketException or ObjectDisposedException)
        {
            // One of them has ended.
        }
    }
}
