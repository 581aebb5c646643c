using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Client;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <summary>A client whose requests wait, since its server does not read them.</summary>
public sealed class WaitingRequestsTests
{
    private const int PauseAt = 1024 * 1024;

    [Fact]
    public async Task It_goes_on_reading_answers()
    {
        var arrived = new TaskCompletionSource();
        var answered = new TaskCompletionSource();
        var ended = new TaskCompletionSource();
        await using var server = new ScriptedServer();
        server.On<CallRequest>(async call =>
        {
            // The next request is read when this ends.
            arrived.SetResult();
            await answered.Task;
            await call.ReplyAsync(default(CallResponse));
            await ended.Task;
        });
        await using ChannelClient client = await ChannelClient.ConnectAsync(server.Url);
        await client.Channel.Opened.InTimeAsync();
        ValueTask<ServiceResult<CallResponse>> called = client.Channel.SendAsync(
            NodeId.Null, default(CallRequest), new Stack<PendingRequest<CallResponse>>(), CancellationToken.None);
        await arrived.Task.InTimeAsync();
        var write = new WriteRequest { NodesToWrite = [new WriteValue { Value = new DataValue((ByteString)new byte[30_000]) }] };
        var pool = new Stack<PendingRequest<WriteResponse>>();
        List<Task> writes = [];
        while (client.Connection.PendingBytes <= PauseAt)
        {
            // Sockets take some of it.
            for (int i = 0; i < 100; i++)
            {
                writes.Add(client.Channel.SendAsync(NodeId.Null, write, pool, CancellationToken.None).AsTask());
            }

            await Patience.UntilSteadyAsync(() => client.Connection.PendingBytes, "the sockets are full");
        }

        answered.SetResult();
        try
        {
            Assert.Equal(StatusCodes.Good, (await called.InTimeAsync()).Status);
        }
        finally
        {
            ended.SetResult();
        }

        await Task.WhenAll(writes).InTimeAsync();
    }

    [Fact]
    public async Task It_renews_its_token_when_there_is_room_for_that()
    {
        var time = new FakeTimeProvider();
        var goOn = new TaskCompletionSource();
        await using var server = new ScriptedServer();
        server.On<CallRequest>(async call =>
        {
            await goOn.Task;
            await call.ReplyAsync(default(CallResponse));
        });
        await using ChannelClient client = await ChannelClient.ConnectAsync(server.Url, time: time);
        await client.Channel.Opened.InTimeAsync();
        time.Advance(TimeSpan.FromSeconds(44));
        List<Task<StatusCode>> waiting = [SendAsync<CallRequest, CallResponse>(client, default)];
        var large = new WriteRequest { NodesToWrite = [new WriteValue { Value = new DataValue((ByteString)new byte[30_000]) }] };
        await FillAsync(client, waiting, () => SendAsync<WriteRequest, WriteResponse>(client, large));

        // Smaller than an OpenSecureChannel request.
        await FillAsync(client, waiting, () => SendAsync<CloseSessionRequest, CloseSessionResponse>(client, default));
        time.Advance(TimeSpan.FromSeconds(2));
        await Patience.UntilSteadyAsync(() => client.Connection.PendingBytes, "it had its tick");
        uint? token = client.Channel.Tokens.Newest?.Id;
        goOn.SetResult();
        Assert.Equal(1u, token);
        await Task.WhenAll(waiting).InTimeAsync();

        // Ticks, but not until the token's end.
        int ticks = 0;
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(ticks++ < 150 ? TimeSpan.FromMilliseconds(100) : TimeSpan.Zero);
                return client.Channel.Tokens.Newest?.Id == 2;
            },
            "it had another token");
    }

    // Until one finds no room, also when the sockets take no more.
    private static async Task FillAsync(ChannelClient client, List<Task<StatusCode>> waiting, Func<Task<StatusCode>> send)
    {
        int before;
        do
        {
            before = waiting.Count;
            for (Task<StatusCode> next = send(); !next.IsCompleted; next = send())
            {
                waiting.Add(next);
            }

            await Patience.UntilSteadyAsync(() => client.Connection.PendingBytes, "the sockets are full");
        }
        while (waiting.Count != before);
    }

    private static async Task<StatusCode> SendAsync<TRequest, TResponse>(ChannelClient client, TRequest request)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage => (await client.Channel.SendAsync(
            NodeId.Null, request, new Stack<PendingRequest<TResponse>>(), CancellationToken.None)).Status;
}
