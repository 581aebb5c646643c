using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;
using Google.Protobuf.WellKnownTypes;
using Xunit;

namespace FastPort.Interop.Tests.NodeServer;

/// <summary>The call extension with a server of another language.</summary>
public sealed class CallTests
{
    private const uint Calls = 8;

    [NodeFact]
    public async Task A_server_that_sets_the_bit_is_told_the_time_limit_and_another_one_is_not()
    {
        using NodePeer later = await NodePeer.StartAsync(new { welcome = new { sessionId = 1, extensions = Calls } });
        using NodePeer earlier = await NodePeer.StartAsync();
        await using FastPortClient first = await later.ConnectAsync();
        await using FastPortClient second = await earlier.ConnectAsync();

        await first.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser, TimeSpan.FromSeconds(90));
        await first.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser, TimeSpan.Zero);
        await second.RequestAsync(DiagnosticType.Echo, new Echo(), Echo.Parser, TimeSpan.FromSeconds(90));

        await first.CloseAsync();
        await second.CloseAsync();
        Assert.Equal([90_000, null], (await later.FinishAsync()).Echoes.Select(static echo => echo.Deadline));
        Assert.Null(Assert.Single((await earlier.FinishAsync()).Echoes).Deadline);
    }

    [NodeFact]
    public async Task An_errors_detail_is_read()
    {
        var detail = new { typeUrl = "type.googleapis.com/google.protobuf.Int32Value", value = "CCo=" };
        using NodePeer peer = await NodePeer.StartAsync(new { welcome = new { sessionId = 1, extensions = Calls }, detail });
        await using FastPortClient client = await peer.ConnectAsync();

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(NodePeer.Fail, ReadOnlyMemory<byte>.Empty));

        Assert.Equal(ErrorCode.NotFound, failure.Code);
        Assert.True(failure.TryGetDetail(out Int32Value? value));
        Assert.Equal(42, value.Value);
    }
}
