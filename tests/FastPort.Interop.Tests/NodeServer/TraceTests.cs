using System.Diagnostics;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Interop.Tests.NodeServer;

/// <summary>The trace extension with a server of another language.</summary>
[Collection<TraceCollection>]
public sealed class TraceTests
{
    [NodeFact]
    public async Task A_server_that_sets_the_bit_is_sent_the_context_of_the_requests_activity_and_another_one_is_not()
    {
        using var activities = new RecordedActivities();
        using NodePeer later = await NodePeer.StartAsync(new { welcome = new { sessionId = 1, extensions = 1 } });
        using NodePeer earlier = await NodePeer.StartAsync();
        await using FastPortClient first = await later.ConnectAsync();
        await using FastPortClient second = await earlier.ConnectAsync();
        using Activity test = RecordedActivities.Begin();

        await first.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser);
        Activity sent = await activities.OneAsync(ActivityKind.Client, "Echo");
        await second.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser);

        await first.CloseAsync();
        await second.CloseAsync();
        Assert.Equal($"{test.TraceId}{sent.SpanId}01", Assert.Single((await later.FinishAsync()).Echoes).Trace);
        Assert.Null(Assert.Single((await earlier.FinishAsync()).Echoes).Trace);
    }
}
