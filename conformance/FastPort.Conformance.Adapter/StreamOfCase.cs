using System.Text.Json.Nodes;
using System.Threading.Channels;
using FastPort.Protocol;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;

namespace FastPort.Conformance.Adapter;

/// <summary>
/// A call that streams. Its items are of a message without fields, which keeps the fields that it does not know: so items pass through
/// unchanged.
/// </summary>
internal sealed class StreamOfCase
{
    private readonly Channel<Empty> _requests = Channel.CreateUnbounded<Empty>();
    private readonly IAsyncEnumerator<Empty>? _replies;
    private Task<byte[]?> _reading = Task.FromResult<byte[]?>(null);

    public StreamOfCase(FastPortClient client, JsonObject command, byte[] body, CancellationToken cancellationToken)
    {
        var type = (ushort)(int)command["type"]!;
        TimeSpan? timeout = ClientSettings.Time(command["timeout"]);
        bool streamsRequests = (string?)command["requests"] == "stream";
        bool streamsReplies = (string?)command["replies"] == "stream";
        if (!streamsReplies)
        {
            Reply = SendAsync();
            return;
        }

        IAsyncEnumerable<Empty> replies = streamsRequests
            ? client.ExchangeAsync(
                type, _requests.Reader.ReadAllAsync(CancellationToken.None), Empty.Parser, timeout, cancellationToken: cancellationToken)
            : client.StreamAsync(type, ToMessage(body), Empty.Parser, timeout, cancellationToken: cancellationToken);
        _replies = replies.GetAsyncEnumerator(CancellationToken.None);

        async Task<byte[]> SendAsync() => (await client.SendStreamAsync(
            type, _requests.Reader.ReadAllAsync(CancellationToken.None), Empty.Parser, timeout, cancellationToken)).ToByteArray();
    }

    /// <summary>The reply of a call with one; null otherwise.</summary>
    public Task<byte[]>? Reply { get; }

    public static Empty ToMessage(byte[] body) => Empty.Parser.ParseFrom(body);

    public void Write(byte[] item) => _requests.Writer.TryWrite(ToMessage(item));

    public void Finish() => _requests.Writer.TryComplete();

    /// <summary>The next reply, after those that were asked for before; null at the end.</summary>
    public Task<byte[]?> ReadAsync()
    {
        _reading = ReadAfterAsync(_reading);
        return _reading;
    }

    private async Task<byte[]?> ReadAfterAsync(Task before)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return await _replies!.MoveNextAsync() ? _replies.Current.ToByteArray() : null;
    }
}
