using System.Buffers;
using FastPort.Framing;
using FastPort.Sessions.Streams;

namespace FastPort.Dispatch.Streams;

/// <summary>A handler of calls that stream. Several sessions may run it at the same time.</summary>
internal abstract class StreamHandler
{
    /// <summary>Whether the requests are a stream; otherwise there is one.</summary>
    public abstract bool ReadsItems { get; }

    /// <summary>Whether the replies are a stream; otherwise there is one.</summary>
    public abstract bool WritesItems { get; }

    /// <summary>The reader of a call's requests; null if there is one request.</summary>
    public abstract ItemReader? CreateReader(StreamWindow window);

    /// <summary>Handles a call. What it throws is answered.</summary>
    public abstract Task RunAsync(StreamCall call);
}

/// <summary>One request, a stream of replies.</summary>
internal sealed class ReplyStreamHandler<TRequest, TReply, TBody>(
    ItemParser<TRequest> parse,
    Func<TReply, TBody> encode,
    Func<TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> handler) : StreamHandler
    where TBody : IFrameBody
{
    public override bool ReadsItems => false;

    public override bool WritesItems => true;

    public override ItemReader? CreateReader(StreamWindow window) => null;

    public override Task RunAsync(StreamCall call)
    {
        var body = new ReadOnlySequence<byte>(call.Body);
        TRequest request = parse(in body);
        call.ReleaseBody();
        return call.SendAsync(handler(request, call.Context, call.Canceled), encode);
    }
}

/// <summary>A stream of requests, one reply.</summary>
internal sealed class RequestStreamHandler<TRequest, TReply, TBody>(
    ItemParser<TRequest> parse,
    Func<TReply, TBody> encode,
    Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, ValueTask<TReply>> handler) : StreamHandler
    where TBody : IFrameBody
{
    public override bool ReadsItems => true;

    public override bool WritesItems => false;

    public override ItemReader CreateReader(StreamWindow window) =>
        new ItemReader<TRequest>(parse, window, continuesOnLoop: false);

    public override async Task RunAsync(StreamCall call)
    {
        var requests = (ItemReader<TRequest>)call.Reader!;
        TReply reply = await handler(requests, call.Context, call.Canceled).ConfigureAwait(false);
        call.End(encode(reply));
    }
}

/// <summary>A stream of requests, a stream of replies.</summary>
internal sealed class ExchangeHandler<TRequest, TReply, TBody>(
    ItemParser<TRequest> parse,
    Func<TReply, TBody> encode,
    Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> handler) : StreamHandler
    where TBody : IFrameBody
{
    public override bool ReadsItems => true;

    public override bool WritesItems => true;

    public override ItemReader CreateReader(StreamWindow window) =>
        new ItemReader<TRequest>(parse, window, continuesOnLoop: false);

    public override Task RunAsync(StreamCall call) =>
        call.SendAsync(handler((ItemReader<TRequest>)call.Reader!, call.Context, call.Canceled), encode);
}
