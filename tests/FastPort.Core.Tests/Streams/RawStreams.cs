using System.Buffers;
using System.Runtime.CompilerServices;
using FastPort.Dispatch.Streams;
using FastPort.Framing;
using FastPort.Sessions.Streams;

namespace FastPort.Core.Tests.Streams;

/// <summary>Streams of bytes: handlers and calls.</summary>
internal static class RawStreams
{
    public const ushort Replies = 0x2000, Requests = 0x2001, Exchange = 0x2002;

    /// <summary>A body that <see cref="Parse"/> refuses.</summary>
    public static readonly byte[] NoItem = [0xFF, 0xFF, 0xFF];

    public static MessageHandlers MapReplies(
        this MessageHandlers handlers, Func<byte[], StreamContext, CancellationToken, IAsyncEnumerable<byte[]>> handler,
        ushort type = Replies) =>
        handlers.MapStream(type, new ReplyStreamHandler<byte[], byte[], SequenceBody>(Parse, ToBody, handler), "Replies");

    public static MessageHandlers MapRequests(
        this MessageHandlers handlers, Func<IAsyncEnumerable<byte[]>, StreamContext, CancellationToken, ValueTask<byte[]>> handler) =>
        handlers.MapStream(Requests, new RequestStreamHandler<byte[], byte[], SequenceBody>(Parse, ToBody, handler), "Requests");

    public static MessageHandlers MapExchange(
        this MessageHandlers handlers,
        Func<IAsyncEnumerable<byte[]>, StreamContext, CancellationToken, IAsyncEnumerable<byte[]>> handler) =>
        handlers.MapStream(Exchange, new ExchangeHandler<byte[], byte[], SequenceBody>(Parse, ToBody, handler), "Exchange");

    public static IAsyncEnumerable<byte[]> Stream(
        IStreamTarget target, byte[]? request = null, TimeSpan? timeout = null, TimeSpan? whole = null,
        CancellationToken cancellationToken = default) =>
        StreamCalls.Stream(target, Replies, ToBody(request ?? []), ParseReply, timeout, whole, cancellationToken);

    public static Task<byte[]> SendAsync(
        IStreamTarget target, IAsyncEnumerable<byte[]> requests, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
        StreamCalls.Send(target, Requests, requests, ToBody, ParseReply, timeout, cancellationToken);

    public static IAsyncEnumerable<byte[]> ExchangeAsync(
        IStreamTarget target, IAsyncEnumerable<byte[]> requests, TimeSpan? timeout = null, TimeSpan? whole = null,
        CancellationToken cancellationToken = default) =>
        StreamCalls.Exchange(target, Exchange, requests, ToBody, ParseReply, timeout, whole, cancellationToken);

    /// <summary>Items with these numbers, each ready at once.</summary>
    public static async IAsyncEnumerable<byte[]> Numbers(int count)
    {
        for (int i = 0; i < count; i++)
        {
            yield return BitConverter.GetBytes(i);
        }

        await Task.CompletedTask;
    }

    public static int Number(byte[] item) => BitConverter.ToInt32(item);

    /// <summary>Echoes what it reads.</summary>
    public static async IAsyncEnumerable<byte[]> Echo(
        IAsyncEnumerable<byte[]> requests, StreamContext context, [EnumeratorCancellation] CancellationToken token)
    {
        await foreach (byte[] request in requests.WithCancellation(token))
        {
            yield return request;
        }
    }

    private static SequenceBody ToBody(byte[] item) => new(new ReadOnlySequence<byte>(item));

    private static byte[] ParseReply(in ReadOnlySequence<byte> body) =>
        body.ToArray() is var item && item.AsSpan().SequenceEqual(NoItem) ? throw new FormatException("No item.") : item;

    private static byte[] Parse(in ReadOnlySequence<byte> body) => body.ToArray() is var item && item.AsSpan().SequenceEqual(NoItem)
        ? throw new RequestRefusedException(ErrorCode.MalformedBody, "No item.")
        : item;
}
