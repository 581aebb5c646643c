using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Cancel: requests that wait are answered, and methods get to know it.</summary>
public sealed class CancelTests
{
    // RawChannel's requests all carry this handle.
    private const uint Handle = 5;

    [Fact]
    public async Task Publish_requests_that_wait_are_canceled_by_their_handle()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawSession session = await RawSession.OpenAsync(server);
        await session.SubscribeAsync(1_000_000);
        await session.SendPublishAsync();
        await session.SendPublishAsync();

        Assert.Equal(0u, await CancelAsync(session, Handle + 1));
        Assert.Equal(2u, await CancelAsync(session, Handle));

        Assert.Equal(StatusCodes.BadRequestCancelledByClient, (await session.NextAsync()).Status);
        Assert.Equal(StatusCodes.BadRequestCancelledByClient, (await session.NextAsync()).Status);
        Assert.Equal(0u, await CancelAsync(session, Handle));
    }

    [Fact]
    public async Task A_method_that_heeds_it_is_canceled()
    {
        var began = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(space => space.AddMethod(
            AddressSpace.ObjectsFolder, new NodeId(2, 1), "Wait", [], [], async (_, cancellationToken) =>
            {
                began.SetResult();
                await Task.Delay(Timeout.Infinite, cancellationToken);
                return MethodResult.Good();
            }));
        using RawSession session = await RawSession.OpenAsync(server);
        uint call = await session.SendAsync(new CallRequest
        {
            MethodsToCall =
            [
                new CallMethodRequest { ObjectId = AddressSpace.ObjectsFolder, MethodId = new NodeId(2, 1) },

                // Does not begin any more.
                new CallMethodRequest { ObjectId = AddressSpace.ObjectsFolder, MethodId = new NodeId(2, 1) },
            ],
        });
        await began.Task;

        Assert.Equal(1u, await CancelAsync(session, Handle));

        Assert.Equal(StatusCodes.BadRequestCancelledByClient, (await session.ReceiveAsync<CallResponse>(call)).Status);
        Assert.Equal(0u, await CancelAsync(session, Handle));
    }

    private static async Task<uint> CancelAsync(RawSession session, uint handle) =>
        (await session.CallAsync<CancelRequest, CancelResponse>(new CancelRequest { RequestHandle = handle })).CancelCount;
}
