using FastPort.Client.Load;
using FastPort.Protocol;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Client.Tests.Load;

/// <summary>The end of an echo load whose server has not answered all.</summary>
public sealed class EchoLaneTests
{
    private const ushort Other = 0x1000;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_reply_to_a_request_that_was_counted_as_unanswered_is_not_recorded(bool openLoop)
    {
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var replied = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        MessageHandlers handlers = new MessageHandlers()
            .MapQueued(DiagnosticType.Echo, async context =>
            {
                asked.SetResult();
                await release.Task;
                context.Reply(context.Body.Span);
                replied.SetResult();
            })
            .MapInline(Other, static (ref InlineRequest request) => request.Reply([]));
        await using FastPortServer server = await TestServer.StartAsync(handlers);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Uri() });
        var recorder = new LoadRecorder(new LatencyStats(LatencyRole.Client), new LoadErrors(), measureSessions: false);
        var lane = new EchoLane(0, 1, new EchoPayload(64), recorder, openLoop ? new SendSchedule(0.001, 1, 0) : null);
        client.Connected += lane.OnConnected;
        await client.ConnectAsync();
        lane.Start(MonotonicClock.Nanoseconds);
        await asked.Task.InTimeAsync();

        lane.Stop();
        Assert.Equal(1, lane.Abandon());
        release.SetResult();
        await replied.Task.InTimeAsync();

        // Its reply comes behind the other one.
        await client.RequestAsync(Other, ReadOnlyMemory<byte>.Empty).InTimeAsync();

        Assert.Equal((0, 0), (recorder.Stats.Read().All.LifetimeCount, recorder.Errors.Total));
    }
}
