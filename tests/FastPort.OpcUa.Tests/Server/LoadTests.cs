using System.Collections.Concurrent;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Many sessions and items at once, and clients that ask for too much.</summary>
public sealed class LoadTests
{
    private const int Sessions = 1000;
    private const int ItemsEach = 100;
    private const int Rounds = 10;

    // One item in ten changes each second, so each changes once in ten.
    private const int ChangesEach = Rounds / 10;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task A_thousand_sessions_with_a_hundred_thousand_items_lose_nothing()
    {
        var time = new FakeTimeProvider();
        var variables = new VariableNode[Sessions * ItemsEach];
        await using TestServer server = await TestServer.StartAsync(
            space =>
            {
                NodeId folder = space.AddFolder(AddressSpace.ObjectsFolder, new NodeId(2, "all"), "All").Id;
                for (int i = 0; i < variables.Length; i++)
                {
                    var thousand = new NodeId(2, $"{i / 1000}");
                    if (i % 1000 == 0)
                    {
                        space.AddFolder(folder, thousand, $"{i}");
                    }

                    variables[i] = space.AddVariable(thousand, new NodeId(2, (uint)i), $"v{i}", 0);
                }
            },
            time: time);
        var sessions = new RawSession[Sessions];
        await Parallel.ForAsync(0, Sessions, Patience.Token, async (i, _) =>
        {
            sessions[i] = await RawSession.OpenAsync(server, timeout: 3_600_000);
            await MonitorAsync(sessions[i], await sessions[i].SubscribeAsync(1000), i * ItemsEach);
            await sessions[i].SendPublishAsync();
            await sessions[i].SendPublishAsync();
        });
        Assert.Equal(Sessions, server.Server.SessionCount);
        Task<int>[] readers = [.. sessions.Select((session, i) => ReadAllAsync(session, i * ItemsEach))];

        for (int round = 0; round < Rounds; round++)
        {
            for (int i = round % 10; i < variables.Length; i += 10)
            {
                variables[i].Value = new DataValue((round / 10) + 1);
            }

            time.Advance(Second);
        }

        Assert.Equal(Sessions * ItemsEach * (1 + ChangesEach), (await Task.WhenAll(readers)).Sum());
        Array.ForEach(sessions, static session => session.Dispose());
    }

    [Fact]
    public async Task A_flood_of_Publish_requests_is_refused_and_harms_nobody()
    {
        const int Flood = 10_000;
        await using TestServer server = await TestServer.StartAsync(
            static space => space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "v", 1),
            static o => o.MaxPublishRequestsPerSession = 5);
        using RawSession flooding = await RawSession.OpenAsync(server);
        using RawSession other = await RawSession.OpenAsync(server);
        await flooding.SubscribeAsync(1_000_000);
        uint id = await other.SubscribeAsync();

        for (int i = 0; i < Flood; i++)
        {
            await flooding.SendPublishAsync();
        }

        for (int i = 0; i < Flood - 5; i++)
        {
            Assert.Equal(StatusCodes.BadTooManyPublishRequests, (await flooding.NextAsync()).Status);
        }

        await other.MonitorAsync(id, 1);
        Assert.Single(await other.CollectAsync(1));
        await flooding.CallAsync<ReadRequest, ReadResponse>(
            new ReadRequest { NodesToRead = [new ReadValueId { NodeId = new NodeId(2, 1), AttributeId = 13 }] });
    }

    [Fact]
    public async Task Requests_are_served_on_the_loop_of_their_connection_and_block_no_thread_of_the_pool()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Event loops are there on Linux.");
        var threads = new ConcurrentDictionary<Thread, bool>();
        await using TestServer server = await TestServer.StartAsync(space => space.AddVariable<int>(
            AddressSpace.ObjectsFolder, new NodeId(2, 1), "v", () =>
            {
                threads.TryAdd(Thread.CurrentThread, Thread.CurrentThread.IsThreadPoolThread);
                return new DataValue(7);
            }));
        using RawSession session = await RawSession.OpenAsync(server);
        var request = new ReadRequest { NodesToRead = [new ReadValueId { NodeId = new NodeId(2, 1), AttributeId = 13 }] };

        List<uint> outstanding = [];
        for (int i = 0; i < 1600; i++)
        {
            outstanding.Add(await session.SendAsync(request));
            if (outstanding.Count == 16)
            {
                foreach (uint id in outstanding)
                {
                    (_, ReadResponse response) = await session.ReceiveAsync<ReadResponse>(id);
                    Assert.Equal(7, Assert.Single(response.Results!).Value.Get<int>());
                }

                outstanding.Clear();
            }
        }

        Assert.False(Assert.Single(threads).Value);
    }

    private static Task MonitorAsync(RawSession session, uint subscription, int first) =>
        session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(new CreateMonitoredItemsRequest
        {
            SubscriptionId = subscription,
            ItemsToCreate =
            [
                .. Enumerable.Range(first, ItemsEach).Select(static i => new MonitoredItemCreateRequest
                {
                    ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, (uint)i), AttributeId = (uint)AttributeId.Value },
                    MonitoringMode = MonitoringMode.Reporting,
                    RequestedParameters = new MonitoringParameters
                    {
                        ClientHandle = (uint)i, QueueSize = 1 + ChangesEach, DiscardOldest = true,
                    },
                }),
            ],
        });

    // All values of each item, in order. Returns their number.
    private static async Task<int> ReadAllAsync(RawSession session, int first)
    {
        int[] seen = new int[ItemsEach];
        int count = 0;
        while (count < ItemsEach * (1 + ChangesEach))
        {
            (StatusCode status, PublishResponse response) = await session.NextAsync();
            Assert.Equal(StatusCodes.Good, status);
            foreach (MonitoredItemNotification change in RawSession.Values(response))
            {
                Assert.Equal(seen[change.ClientHandle - first]++, change.Value.Value.Get<int>());
                count++;
            }

            await session.SendPublishAsync(new SubscriptionAcknowledgement
            {
                SubscriptionId = response.SubscriptionId,
                SequenceNumber = response.NotificationMessage.SequenceNumber,
            });
        }

        return count;
    }
}
