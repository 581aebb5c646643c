
namespace FastPort.Core.Tests.Transports.Support;

/// <summary>
/// The far end of a link where every byte is the test's: it sends in the pieces it is told to and reads only when it is told to.
/// </summary>
internal abstract class RawEnd : IDisposable
{
    /// <summary>Whether the end can read on after <see cref="ShutdownSend"/>.</summary>
    public virtual bool ReadsAfterShutdown => true;

    /// <summary>Sends the bytes, as one piece if the link has room.</summary>
    public abstract Task SendAsync(byte[] bytes);

    /// <summary>Exactly so many bytes.</summary>
    public abstract Task<byte[]> ReadAsync(int count);

    /// <summary>The stream must end in order, with nothing more to read.</summary>
    public abstract Task ExpectEndAsync();

    /// <summary>The stream must end, in order or not.</summary>
    public abstract Task ExpectGoneAsync();

    /// <summary>Completes when a disposed end has given everything back.</summary>
    public virtual Task Over => Task.CompletedTask;

    /// <summary>Ends this side of the stream.</summary>
    public abstract void ShutdownSend();

    /// <summary>Ends the link at once; with a reset where it has such a thing.</summary>
    public abstract void Reset();

    public abstract void Dispose();
}

/// <summary>A plain socket.</summary>
internal sealed class SocketEnd : RawEnd
{
    private readonly RawPeer _peer;

    private SocketEnd(RawPeer peer) => _peer = peer;

    public static async Task<RawEnd> ConnectAsync(TestLink link, bool takesLittle) =>
        new SocketEnd(await RawPeer.ConnectAsync(link.Endpoint, takesLittle ? 4096 : 0));

    public override Task SendAsync(byte[] bytes) => _peer.SendAsync(bytes);

    public override Task<byte[]> ReadAsync(int count) => _peer.ReadBytesAsync(count);

    public override Task ExpectEndAsync() => _peer.ExpectEndAsync();

    public override Task ExpectGoneAsync() => _peer.ExpectGoneAsync();

    public override void ShutdownSend() => _peer.ShutdownSend();

    public override void Reset() => _peer.Reset();

    public override void Dispose() => _peer.Dispose();
}
