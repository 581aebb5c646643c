using System.Threading.Channels;
using FastPort.Core.Tests.Support;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>The reads of an idle session.</summary>
public sealed class KeepAliveTests
{
    private static readonly NodeId State = new(0, 2259);

    [Theory]
    [InlineData(1, 60_000)]

    // The session would end before the interval has passed.
    [InlineData(3_600_000, 1000)]
    public async Task An_idle_session_is_read(int interval, double sessionTimeout)
    {
        await using var server = new ScriptedServer();
        var reads = Channel.CreateUnbounded<NodeId>();
        server.On<CreateSessionRequest>(call => call.ReplyAsync(
            new CreateSessionResponse { AuthenticationToken = new NodeId(1, 1), RevisedSessionTimeout = sessionTimeout }));
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { KeepAliveInterval = TimeSpan.FromMilliseconds(interval) });
        server.On<ReadRequest>(call =>
        {
            reads.Writer.TryWrite(call.Request<ReadRequest>().NodesToRead![0].NodeId);
            return call.ReplyAsync(new ReadResponse { Results = [new DataValue(0)] });
        });

        Assert.Equal(State, await reads.Reader.ReadAsync(Patience.Token));
        Assert.Equal(State, await reads.Reader.ReadAsync(Patience.Token));
        Assert.True(client.IsConnected);
    }

    [Fact]
    public async Task A_server_that_refuses_the_read_is_alive()
    {
        await using var server = new ScriptedServer();
        var reads = Channel.CreateUnbounded<NodeId>();
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { KeepAliveInterval = TimeSpan.FromMilliseconds(1) });
        server.On<ReadRequest>(call =>
        {
            reads.Writer.TryWrite(call.Request<ReadRequest>().NodesToRead![0].NodeId);
            return call.FaultAsync(StatusCodes.BadUserAccessDenied);
        });

        await reads.Reader.ReadAsync(Patience.Token);
        await reads.Reader.ReadAsync(Patience.Token);

        Assert.True(client.IsConnected);
    }

    [Fact]
    public async Task A_session_that_has_ended_is_replaced()
    {
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { KeepAliveInterval = TimeSpan.FromMilliseconds(1) });
        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Reconnected += recovery => back.TrySetResult(recovery);
        server.On<ActivateSessionRequest>(static call => IsFirst(call)
            ? call.FaultAsync(StatusCodes.BadSessionClosed)
            : call.ReplyAsync(default(ActivateSessionResponse)));
        server.On<ReadRequest>(static call => IsFirst(call)
            ? call.FaultAsync(StatusCodes.BadSessionClosed)
            : call.ReplyAsync(new ReadResponse
            {
                Results = [.. call.Request<ReadRequest>().NodesToRead!.Select(static _ => new DataValue(Variant.Null))],
            }));

        Assert.Equal(SessionRecovery.Replaced, await back.Task.InTimeAsync());
    }

    private static bool IsFirst(ScriptedCall call) => call.Header.AuthenticationToken == new NodeId(1, 1);
}
