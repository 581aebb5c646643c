using System.Buffers;
using System.Threading.Channels;
using FastPort.Clients;
using FastPort.Framing;

namespace FastPort;

/// <summary>
/// The calls and events of a <see cref="FastPortClient"/>, for classes that get their client injected, so that a test can substitute it. A
/// substitute implements the members that its test uses: a call with a typed body becomes one with bytes, and every other call that is not
/// implemented throws <see cref="NotSupportedException"/>.
/// </summary>
public interface IFastPortClient
{
    /// <inheritdoc cref="FastPortClient.Connected"/>
    event Action<Session>? Connected
    {
        add { }
        remove { }
    }

    /// <inheritdoc cref="FastPortClient.Disconnected"/>
    event Action<Session, CloseReason>? Disconnected
    {
        add { }
        remove { }
    }

    /// <inheritdoc cref="FastPortClient.Session"/>
    Session? Session => null;

    /// <inheritdoc cref="FastPortClient.RequestAsync(ushort, ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>
    Task<byte[]> RequestAsync(
        ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.RequestAsync{TBody, TResult}"/>
    async Task<TResult> RequestAsync<TBody, TResult>(
        ushort type, TBody body, ReplyReader<TResult> reader, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody
    {
        ArgumentNullException.ThrowIfNull(reader);
        byte[] reply = await RequestAsync(type, Encode(body), timeout, cancellationToken).ConfigureAwait(false);
        var header = new FrameHeader(
            (uint)(FrameHeader.MinimumLength + reply.Length), type, FrameFlags.Reply, FrameHeader.CurrentVersion, correlation: 0);
        return reader(new InboundReply(header, new ReadOnlySequence<byte>(reply), default, received: 0));
    }

    /// <inheritdoc cref="FastPortClient.SendAsync(ushort, ReadOnlyMemory{byte}, CancellationToken)"/>
    ValueTask SendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        SendFailedException.ThrowUnlessSent(TrySendAsync(type, body, cancellationToken));

    /// <inheritdoc cref="FastPortClient.SendAsync{TBody}(ushort, TBody, CancellationToken)"/>
    ValueTask SendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => SendAsync(type, Encode(body), cancellationToken);

    /// <inheritdoc cref="FastPortClient.TrySendAsync(ushort, ReadOnlyMemory{byte}, CancellationToken)"/>
    ValueTask<SendStatus> TrySendAsync(ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.TrySendAsync{TBody}(ushort, TBody, CancellationToken)"/>
    ValueTask<SendStatus> TrySendAsync<TBody>(ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => TrySendAsync(type, Encode(body), cancellationToken);

    /// <inheritdoc cref="FastPortClient.RelayAsync(string, ushort, ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>
    Task RelayAsync(
        string to, ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.RelayAsync{TBody}(string, ushort, TBody, TimeSpan?, CancellationToken)"/>
    Task RelayAsync<TBody>(
        string to, ushort type, TBody body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => RelayAsync(to, type, Encode(body), timeout, cancellationToken);

    /// <inheritdoc cref="FastPortClient.RelayOneWayAsync(string, ushort, ReadOnlyMemory{byte}, CancellationToken)"/>
    ValueTask RelayOneWayAsync(string to, ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.RelayOneWayAsync{TBody}(string, ushort, TBody, CancellationToken)"/>
    ValueTask RelayOneWayAsync<TBody>(string to, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => RelayOneWayAsync(to, type, Encode(body), cancellationToken);

    /// <inheritdoc cref="FastPortClient.OnRelayed"/>
    void OnRelayed(ushort type, RoutedHandler handler) => throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.PublishAsync(string, ushort, ReadOnlyMemory{byte}, TimeSpan?, CancellationToken)"/>
    Task<int> PublishAsync(
        string topic, ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.PublishAsync{TBody}(string, ushort, TBody, TimeSpan?, CancellationToken)"/>
    Task<int> PublishAsync<TBody>(
        string topic, ushort type, TBody body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => PublishAsync(topic, type, Encode(body), timeout, cancellationToken);

    /// <inheritdoc cref="FastPortClient.PublishOneWayAsync(string, ushort, ReadOnlyMemory{byte}, CancellationToken)"/>
    ValueTask PublishOneWayAsync(string topic, ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.PublishOneWayAsync{TBody}(string, ushort, TBody, CancellationToken)"/>
    ValueTask PublishOneWayAsync<TBody>(string topic, ushort type, TBody body, CancellationToken cancellationToken = default)
        where TBody : IFrameBody => PublishOneWayAsync(topic, type, Encode(body), cancellationToken);

    /// <inheritdoc cref="FastPortClient.SubscribeAsync"/>
    Task SubscribeAsync(
        string prefix, RoutedHandler handler, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.UnsubscribeAsync"/>
    Task UnsubscribeAsync(string prefix, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.ReadTopicAsync(string, int, BoundedChannelFullMode, Action?, TimeSpan?, CancellationToken)"/>
    IAsyncEnumerable<TopicMessage<ReadOnlyMemory<byte>>> ReadTopicAsync(
        string prefix,
        int capacity = 256,
        BoundedChannelFullMode whenFull = BoundedChannelFullMode.DropOldest,
        Action? onSubscribed = null,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    /// <inheritdoc cref="FastPortClient.ReadTopicAsync{TBody}"/>
    IAsyncEnumerable<TopicMessage<TBody>> ReadTopicAsync<TBody>(
        string prefix,
        RoutedReader<TBody> reader,
        int capacity = 256,
        BoundedChannelFullMode whenFull = BoundedChannelFullMode.DropOldest,
        Action? onSubscribed = null,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(reader);
        return ReadTopicAsync(prefix, capacity, whenFull, onSubscribed, timeout, cancellationToken).Select(message =>
            new TopicMessage<TBody>(
                message.Topic,
                message.Type,
                reader(new RoutedMessage(message.Topic, message.Type, message.Body, message.From)),
                message.From,
                message.Dropped));
    }

    /// <inheritdoc cref="FastPortClient.ListPeersAsync"/>
    IAsyncEnumerable<PeerInfo> ListPeersAsync(
        string prefix = "", string after = "", TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        throw Substitute.Lacks(nameof(IFastPortClient));

    private static ReadOnlyMemory<byte> Encode<TBody>(TBody body)
        where TBody : IFrameBody
    {
        byte[] bytes = new byte[body.Size];
        body.Write(bytes);
        return bytes;
    }
}
