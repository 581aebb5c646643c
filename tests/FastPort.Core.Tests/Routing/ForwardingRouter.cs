using System.Threading.Channels;
using FastPort.Framing;
using FastPort.Routing;

namespace FastPort.Core.Tests.Routing;

/// <summary>A router that passes everything on, and confirms each request when a test says so.</summary>
internal sealed class ForwardingRouter : IMessageRouter
{
    private readonly Channel<TaskCompletionSource<SendStatus>> _sent =
        Channel.CreateUnbounded<TaskCompletionSource<SendStatus>>();

    private int _count;

    public int Count => Volatile.Read(ref _count);

    public SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => SendStatus.Queued;

    public ValueTask<SendStatus> SendAsync<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (routingId.SequenceEqual("full"u8))
        {
            // A target of this server whose queue stays full.
            return new ValueTask<SendStatus>(SendStatus.Full);
        }

        Interlocked.Increment(ref _count);
        var sent = new TaskCompletionSource<SendStatus>();
        _sent.Writer.TryWrite(sent);
        return new ValueTask<SendStatus>(sent.Task);
    }

    public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default) =>
        new TaskCompletionSource().Task;

    public int Publish<TBody>(scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
        where TBody : IFrameBody, allows ref struct => 0;

    public Task<TaskCompletionSource<SendStatus>> NextAsync() => _sent.Reader.ReadAsync(Patience.Token).InTimeAsync();
}
