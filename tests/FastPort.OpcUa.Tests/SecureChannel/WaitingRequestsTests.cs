using FastPort.Core.Tests.Support;
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
}
