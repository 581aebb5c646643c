using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>A server that did not run for a while does not hold that against its clients.</summary>
public sealed class SuspensionTests
{
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task A_server_that_did_not_run_for_hours_keeps_channels_sessions_and_subscriptions()
    {
        await using TestServer server = await TestServer.StartAsync(
            static space => space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Number", 7), time: _time);
        using RawSession session = await RawSession.OpenAsync(server, timeout: 10_000);
        uint id = await session.SubscribeAsync(100, keepAliveCount: 10, lifetimeCount: 1_000);

        for (int i = 0; i < 3; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            _time.Leap(TimeSpan.FromHours(2));
            _time.Advance(TimeSpan.FromMilliseconds(100));
        }

        ReadResponse read = await session.CallAsync<ReadRequest, ReadResponse>(new ReadRequest
        {
            NodesToRead = [new() { NodeId = new NodeId(2, 1), AttributeId = (uint)AttributeId.Value }],
        });
        Assert.Equal(7, Assert.Single(read.Results!).Value.Get<int>());
        Assert.True(server.Server.Sessions.Subscriptions.ContainsKey(id));

        _time.Advance(TimeSpan.FromSeconds(12));
        Assert.Equal(0, server.Server.SessionCount);
    }
}
