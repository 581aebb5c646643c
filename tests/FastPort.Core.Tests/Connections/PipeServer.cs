using System.IO.Pipelines;
using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>A listener on one kind of link whose connections are served through pipes by one handler.</summary>
internal sealed class PipeServer : IAsyncDisposable
{
    private const int Piece = 64 * 1024;

    private readonly TestLink _link;

    public PipeServer(
        string link, Func<IDuplexPipe, Connection, Task> handler, int bound = PipeProtocol.DefaultBytes, int maxSendBytes = 4 * 1024 * 1024)
    {
        _link = TestLink.Open(link, settings => settings with { MaxSendBytes = maxSendBytes });
        _link.ServeOther = () => new PipeProtocol(handler, Log, bound, bound);
    }

    public RecordingLog Log => _link.Log;

    public LinkKind Kind => _link.Kind;

    public Task<RawEnd> ConnectAsync(bool takesLittle = false) => _link.ConnectRawAloneAsync(takesLittle);

    public async Task<Connection> ConnectionAsync()
    {
        await Patience.UntilAsync(() => _link.Others.Count != 0, "a connection was accepted");
        return Assert.Single(_link.Others);
    }

    public async Task<CloseReason> CloseReasonAsync() => await (await ConnectionAsync()).Closed.InTimeAsync();

    /// <summary>Reads what must be all that the peer is sent.</summary>
    public static async Task<byte[]> ReadToEndAsync(RawEnd peer, int count)
    {
        byte[] all = await ReadAsync(peer, count);
        await peer.ExpectEndAsync();
        return all;
    }

    public static async Task<byte[]> ReadAsync(RawEnd peer, int count)
    {
        byte[] all = new byte[count];
        for (int at = 0; at < count; at += Piece)
        {
            (await peer.ReadAsync(Math.Min(Piece, count - at))).CopyTo(all, at);
        }

        return all;
    }

    public static async Task SendAllAsync(RawEnd peer, byte[] bytes)
    {
        for (int at = 0; at < bytes.Length; at += Piece)
        {
            await peer.SendAsync(bytes[at..Math.Min(at + Piece, bytes.Length)]);
        }
    }

    public ValueTask DisposeAsync() => _link.DisposeAsync();
}
