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

    [Fact]
    public async Task Calls_of_a_session_that_ends_are_canceled_and_count_for_its_channel_while_they_run()
    {
        var gate = new TaskCompletionSource();
        using var began = new SemaphoreSlim(0);
        using var canceled = new SemaphoreSlim(0);
        await using TestServer server = await TestServer.StartAsync(
            space => space.AddMethod(
                AddressSpace.ObjectsFolder, new NodeId(2, 1), "Wait", [], [], async (_, cancellationToken) =>
                {
                    await using CancellationTokenRegistration registration = cancellationToken.Register(() => canceled.Release());
                    began.Release();
                    await gate.Task;
                    return MethodResult.Good();
                }),
            static o => o.MaxRunningRequestsPerSession = 2);
        using RawSession session = await RawSession.OpenAsync(server);
        var request = new CallRequest
        {
            MethodsToCall = [new CallMethodRequest { ObjectId = AddressSpace.ObjectsFolder, MethodId = new NodeId(2, 1) }],
        };
        uint first = await session.SendAsync(request);
        uint second = await session.SendAsync(request);
        await began.WaitAsync(Patience.Token);
        await began.WaitAsync(Patience.Token);

        await session.CallAsync<CloseSessionRequest, CloseSessionResponse>(default);
        await canceled.WaitAsync(Patience.Token);
        await canceled.WaitAsync(Patience.Token);
        await session.RenewAsync();

        Assert.Equal(StatusCodes.BadTooManyOperations, (await session.TryAsync<CallRequest, CallResponse>(request)).Status);
        gate.SetResult();
        Assert.Equal(StatusCodes.BadRequestCancelledByClient, (await session.ReceiveAsync<CallResponse>(first)).Status);
        Assert.Equal(StatusCodes.BadRequestCancelledByClient, (await session.ReceiveAsync<CallResponse>(second)).Status);
        await session.CallAsync<CallRequest, CallResponse>(request);
    }

    private static async Task<uint> CancelAsync(RawSession session, uint handle) =>
        (await session.CallAsync<CancelRequest, CancelResponse>(new CancelRequest { RequestHandle = handle })).CancelCount;
}
