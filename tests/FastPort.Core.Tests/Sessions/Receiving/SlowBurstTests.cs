using System.Diagnostics;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Receiving;

/// <summary>Replies of a burst whose handlers take their time.</summary>
public sealed class SlowBurstTests
{
    private const ushort Slow = 0x1001;
    private const ushort Last = 0x1002;
    private const int Requests = 40;

    [Fact]
    public async Task First_replies_leave_while_the_rest_of_the_burst_is_handled()
    {
        using var answered = new ManualResetEventSlim();
        bool inTime = false;
        await using TestServer server = await TestServer.StartAsync(handlers => handlers
            .MapInline(Slow, static (ref InlineRequest request) =>
            {
                long begun = Stopwatch.GetTimestamp();
                while (Stopwatch.GetElapsedTime(begun) < TimeSpan.FromMicroseconds(20))
                {
                    // Busy, as a handler that computes.
                }

                request.Reply(default(EmptyBody));
            })
            .MapInline(Last, (ref InlineRequest request) =>
            {
                inTime = answered.Wait(Patience.Limit);
                request.Reply(default(EmptyBody));
            }));
        using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoint);
        byte[][] burst = [.. Enumerable.Range(1, Requests).Select(static i => Wire.Request(Slow, (uint)i)), Wire.Request(Last, 99)];

        await peer.SendAsync(burst);
        Assert.Equal(1u, (await peer.ReadFrameAsync()).Correlation);
        answered.Set();

        for (int i = 0; i < Requests; i++)
        {
            await peer.ReadFrameAsync();
        }

        Assert.True(inTime);
    }
}
