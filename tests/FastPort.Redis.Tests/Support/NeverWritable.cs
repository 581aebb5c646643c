using FastPort.Framing;
using FastPort.Routing;

namespace FastPort.Redis.Tests.Support;

/// <summary>A router whose sessions never take anything.</summary>
internal sealed class NeverWritable : IMessageRouter
{
    public Task Room { get; } = new TaskCompletionSource().Task;

    public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default) => Room;

    public SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => SendStatus.Full;

    public ValueTask<SendStatus> SendAsync<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => new(SendStatus.Full);

    public int Publish<TBody>(
        scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
        where TBody : IFrameBody, allows ref struct => 0;
}
