using System.Threading.Channels;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>
/// The reads of an idle session. Its time is the tests': a server that is not given the processor for a moment is no silent one.
/// </summary>
public sealed class KeepAliveTests
{
    private static readonly NodeId State = new(0, 2259);
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(50);

    private readonly FakeTimeProvider _time = new();

    [Theory]
    [InlineData(50, 60_000, 50)]

    // The session would end before the interval has passed.
    [InlineData(3_600_000, 1000, 500)]
    public async Task An_idle_session_is_read(int interval, double sessionTimeout, int period)
    {
        await using var server = new ScriptedServer();
        server.On<CreateSessionRequest>(call => call.ReplyAsync(
            new CreateSessionResponse { AuthenticationToken = new NodeId(1, 1), RevisedSessionTimeout = sessionTimeout }));
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { KeepAliveInterval = TimeSpan.FromMilliseconds(interval) }, _time);

        await PassAsync(server, client, TimeSpan.FromMilliseconds(period), static call => call.ReplyAsync(
            new ReadResponse { Results = [new DataValue(0)] }));

        Assert.True(client.IsConnected);
    }

    [Fact]
    public async Task A_server_that_refuses_the_read_is_alive()
    {
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { KeepAliveInterval = Interval }, _time);

        await PassAsync(server, client, Interval, static call => call.FaultAsync(StatusCodes.BadUserAccessDenied));

        Assert.True(client.IsConnected);
    }

    [Fact]
    public async Task A_session_that_has_ended_is_replaced()
    {
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { KeepAliveInterval = Interval }, _time);
        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Connected += recovery => back.TrySetResult(recovery);
        server.On<ActivateSessionRequest>(static call => IsFirst(call)
            ? call.FaultAsync(StatusCodes.BadSessionClosed)
            : call.ReplyAsync(default(ActivateSessionResponse)));
        server.On<ReadRequest>(static call => IsFirst(call)
            ? call.FaultAsync(StatusCodes.BadSessionClosed)
            : call.ReplyAsync(new ReadResponse
            {
                Results = [.. call.Request<ReadRequest>().NodesToRead!.Select(static _ => new DataValue(Variant.Null))],
            }));

        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromMilliseconds(10));
                return back.Task.IsCompleted;
            },
            "the client is connected again");
        Assert.Equal(SessionRecovery.Replaced, await back.Task);
    }

    [Fact]
    public async Task A_server_that_does_nothing_but_execute_a_method_is_alive_until_the_call_has_timed_out()
    {
        TimeSpan limit = TimeSpan.FromHours(1);
        await using var server = new ScriptedServer();
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions
            {
                KeepAliveInterval = Interval,
                RequestTimeout = limit,
                Reconnect = false,
                TokenLifetime = TimeSpan.FromDays(1),
            },
            _time);
        var calls = Channel.CreateUnbounded<ScriptedCall>();
        var unanswered = Channel.CreateUnbounded<ScriptedCall>();
        bool isExecuting = false;
        server.On<CallRequest>(call =>
        {
            Volatile.Write(ref isExecuting, true);
            return calls.Writer.WriteAsync(call).AsTask();
        });
        server.On<ReadRequest>(call => Volatile.Read(ref isExecuting)
            ? unanswered.Writer.WriteAsync(call).AsTask()
            : call.ReplyAsync(new ReadResponse { Results = [new DataValue(0)] }));

        Task<MethodCallResult> first = client.CallAsync(State, State, []).AsTask();
        ScriptedCall executed = await calls.Reader.ReadAsync(Patience.Token);
        await PassReadsAsync(unanswered.Reader, 4);
        Volatile.Write(ref isExecuting, false);
        await executed.ReplyAsync(new CallResponse { Results = [new CallMethodResult { StatusCode = StatusCodes.Good }] });
        Assert.Equal(StatusCodes.Good, (await first.InTimeAsync()).Status);

        // A call that is made while the server is silent already gives it no more time.
        Task second = client.CallAsync(State, State, []).AsTask();
        await calls.Reader.ReadAsync(Patience.Token);

        // Of the reads only those count that come behind this call: time has passed also while the ones before were on their way.
        while (unanswered.Reader.TryRead(out _))
        {
        }

        await PassReadsAsync(unanswered.Reader, 2);
        _time.Advance(limit / 2);
        Assert.True(client.IsConnected);
        Task third = client.CallAsync(State, State, []).AsTask();
        _time.Advance((limit / 2) + TimeSpan.FromSeconds(1));
        await Assert.ThrowsAsync<OpcUaException>(() => second.InTimeAsync());
        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(Interval);
                return !client.IsConnected;
            },
            "the server is given up");
        Assert.NotEqual(StatusCodes.BadTimeout, (await Assert.ThrowsAsync<OpcUaException>(() => third.InTimeAsync())).Status);
    }

    /// <summary>The read of its state has no room behind what waits to be sent.</summary>
    [Fact]
    public async Task A_server_that_takes_nothing_is_noticed_while_no_more_can_wait_to_be_sent()
    {
        var ended = new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var server = new ScriptedServer();
        server.On<WriteRequest>(_ => ended.Task.InTimeAsync());
        await using OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { KeepAliveInterval = Interval, MaxMessageBytes = 8192, Reconnect = false }, _time);
        client.Disconnected += reason => ended.TrySetResult(reason);
        KeyValuePair<NodeId, Variant>[] large = [new(State, new ByteString(new byte[60_000]))];

        await Patience.UntilAsync(
            () =>
            {
                // What does not wait was refused, for want of room.
                Task last;
                do
                {
                    last = client.WriteAsync(large).AsTask();
                }
                while (!last.IsCompleted);

                do
                {
                    last = client.ReadAsync([State]).AsTask();
                }
                while (!last.IsCompleted);

                _time.Advance(TimeSpan.FromMilliseconds(10));
                return ended.Task.IsCompleted;
            },
            "the server is given up");

        Assert.Contains("keep-alive", (await ended.Task).Message, StringComparison.Ordinal);
    }

    // As many reads of the server's state are sent, one after the other was given up.
    private async Task PassReadsAsync(ChannelReader<ScriptedCall> reads, int count)
    {
        for (int i = 0; i < count; i++)
        {
            await Patience.UntilAsync(
                () =>
                {
                    _time.Advance(TimeSpan.FromMilliseconds(10));
                    return reads.TryRead(out _);
                },
                "the server's state is read");
        }
    }

    // Two periods, with a read each, which is answered before time goes on.
    private async Task PassAsync(ScriptedServer server, OpcUaClient client, TimeSpan period, Func<ScriptedCall, Task> answer)
    {
        var reads = Channel.CreateUnbounded<NodeId>();
        server.On<ReadRequest>(call =>
        {
            reads.Writer.TryWrite(call.Request<ReadRequest>().NodesToRead![0].NodeId);
            return answer(call);
        });
        server.On<WriteRequest>(static call => call.ReplyAsync(new WriteResponse { Results = [StatusCodes.Good] }));
        await Patience.UntilAsync(() => _time.IsRunning(period), "the client keeps its session alive");
        for (int i = 0; i < 2; i++)
        {
            _time.Advance(period);
            Assert.Equal(State, await reads.Reader.ReadAsync(Patience.Token));

            // This answer comes behind that of the read.
            Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(State, 1)]).InTimeAsync());
        }

        Assert.Equal(0, reads.Reader.Count);
    }

    private static bool IsFirst(ScriptedCall call) => call.Header.AuthenticationToken == new NodeId(1, 1);
}
