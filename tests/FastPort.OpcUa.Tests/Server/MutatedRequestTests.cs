using System.Buffers.Binary;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>
/// Requests of every service with wrong bytes in them, inside a session: the session and other clients are served on, no handler throws.
/// </summary>
public sealed class MutatedRequestTests
{
    private const int Mutations = 5000;

    private static readonly uint[] Extremes = [uint.MaxValue, int.MaxValue, 0x8000_0000, 0x00FF_FFFF, 65_536, 0];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Are_answered_and_harm_nobody(int seed)
    {
        var random = new Random(seed);
        await using TestServer server = await TestServer.StartAsync(AddNodes);
        await using OpcUaClient other = await server.ConnectAsync();
        using RawSession session = await RawSession.OpenAsync(server);
        byte[][] requests = await RequestsAsync(session);
        var seen = new HashSet<StatusCode?>();
        for (int i = 0; i < Mutations; i++)
        {
            byte[] message = Mutate(random, requests);
            StatusCode? status = await session.SendBytesAsync(message);
            Assert.True(status != StatusCodes.BadInternalError, $"A handler threw for {Convert.ToHexString(message)}.");
            seen.Add(status);
        }

        StatusCode?[] expected = [StatusCodes.Good, StatusCodes.BadDecodingError, StatusCodes.BadServiceUnsupported];
        Assert.Superset(expected.ToHashSet(), seen);
        Assert.True((await other.ReadAsync([new NodeId(0, 2258)]))[0].Status.IsGood);
    }

    private static void AddNodes(AddressSpace space)
    {
        for (uint i = 1; i <= 20; i++)
        {
            if (i % 2 == 0)
            {
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, i), $"v{i}", (int)i, writable: true);
            }
            else
            {
                space.AddArrayVariable(AddressSpace.ObjectsFolder, new NodeId(2, i), $"v{i}", (double[])[1, 2, 3], writable: true);
            }
        }
    }

    private static byte[] Mutate(Random random, byte[][] requests)
    {
        byte[] message = [.. requests[random.Next(requests.Length)]];
        switch (random.Next(5))
        {
            case 0:
                for (int flips = random.Next(1, 5); flips > 0; flips--)
                {
                    message[random.Next(message.Length)] ^= (byte)(1 << random.Next(8));
                }

                return message;
            case 1:
                uint extreme = Extremes[random.Next(Extremes.Length)];
                BinaryPrimitives.WriteUInt32LittleEndian(message.AsSpan(random.Next(message.Length - 3)), extreme);
                return message;
            case 2:
                return message[..random.Next(message.Length)];
            case 3:
                byte[] more = new byte[random.Next(1, 64)];
                random.NextBytes(more);
                return [.. message, .. more];
            default:
                byte[] other = requests[random.Next(requests.Length)];
                return [.. message.AsSpan(0, random.Next(message.Length)), .. other.AsSpan(random.Next(other.Length))];
        }
    }

    // One valid request of each service.
    private static async Task<byte[][]> RequestsAsync(RawSession session)
    {
        uint subscription = await session.SubscribeAsync();
        MonitoredItemCreateResult item = await session.MonitorAsync(subscription, 2);
        NodeId[] nodes = [new(2, 1), new(2, 2), new(0, 84), new(2, "name")];
        return
        [
            session.Message(new ReadRequest
            {
                NodesToRead = [.. nodes.Select(static n => new ReadValueId { NodeId = n, AttributeId = 13, IndexRange = "0:1" })],
            }),
            session.Message(new WriteRequest
            {
                NodesToWrite =
                [
                    new WriteValue { NodeId = nodes[0], AttributeId = 13, IndexRange = "1:2", Value = Variant.FromArray<double>([4, 5]) },
                    new WriteValue { NodeId = nodes[1], AttributeId = 13, Value = new DataValue(7) },
                ],
            }),
            session.Message(new CreateMonitoredItemsRequest
            {
                SubscriptionId = subscription,
                ItemsToCreate =
                [
                    new MonitoredItemCreateRequest
                    {
                        ItemToMonitor = new ReadValueId { NodeId = nodes[1], AttributeId = 13 },
                        MonitoringMode = MonitoringMode.Reporting,
                        RequestedParameters = new MonitoringParameters
                        {
                            QueueSize = 10,
                            SamplingInterval = 10,
                            Filter = RawSession.Filter(DataChangeTrigger.StatusValue, 1, 0.5),
                        },
                    },
                ],
            }),
            session.Message(new ModifyMonitoredItemsRequest
            {
                SubscriptionId = subscription,
                ItemsToModify =
                [
                    new MonitoredItemModifyRequest
                    {
                        MonitoredItemId = item.MonitoredItemId,
                        RequestedParameters = new MonitoringParameters { QueueSize = 2 },
                    },
                ],
            }),
            session.Message(new SetMonitoringModeRequest { SubscriptionId = subscription, MonitoredItemIds = [item.MonitoredItemId] }),
            session.Message(new SetTriggeringRequest
            {
                SubscriptionId = subscription,
                TriggeringItemId = item.MonitoredItemId,
                LinksToAdd = [item.MonitoredItemId],
                LinksToRemove = [1, 2],
            }),
            session.Message(new DeleteMonitoredItemsRequest { SubscriptionId = subscription, MonitoredItemIds = [99, 100] }),
            session.Message(new CreateSubscriptionRequest
            {
                RequestedPublishingInterval = 1000,
                RequestedLifetimeCount = 30,
                RequestedMaxKeepAliveCount = 10,
            }),
            session.Message(new ModifySubscriptionRequest { SubscriptionId = subscription, RequestedPublishingInterval = 50 }),
            session.Message(new SetPublishingModeRequest { SubscriptionIds = [subscription, 77], PublishingEnabled = true }),
            session.Message(new PublishRequest
            {
                SubscriptionAcknowledgements = [new SubscriptionAcknowledgement { SubscriptionId = subscription, SequenceNumber = 1 }],
            }),
            session.Message(new RepublishRequest { SubscriptionId = subscription, RetransmitSequenceNumber = 1 }),
            session.Message(new TransferSubscriptionsRequest { SubscriptionIds = [subscription] }),
            session.Message(new DeleteSubscriptionsRequest { SubscriptionIds = [12_345] }),
            session.Message(new BrowseRequest
            {
                RequestedMaxReferencesPerNode = 2,
                NodesToBrowse = [new BrowseDescription { NodeId = nodes[2], IncludeSubtypes = true }],
            }),
            session.Message(new BrowseNextRequest { ContinuationPoints = [new ByteString(new byte[8])] }),
            session.Message(new TranslateBrowsePathsRequest
            {
                BrowsePaths =
                [
                    new BrowsePath
                    {
                        StartingNode = nodes[2],
                        RelativePath = [new RelativePathElement { TargetName = "Objects", IncludeSubtypes = true }],
                    },
                ],
            }),
            session.Message(new RegisterNodesRequest { NodesToRegister = nodes }),
            session.Message(new UnregisterNodesRequest { NodesToUnregister = nodes }),
            session.Message(new CallRequest
            {
                MethodsToCall = [new CallMethodRequest { ObjectId = nodes[2], MethodId = nodes[0], InputArguments = [1, "x"] }],
            }),
            session.Message(new FindServersRequest { EndpointUrl = "opc.tcp://localhost", LocaleIds = ["en"], ServerUris = ["urn:x"] }),
            session.Message(new GetEndpointsRequest { EndpointUrl = "opc.tcp://localhost", ProfileUris = ["x"] }),
            session.Message(new CreateSessionRequest { RequestedSessionTimeout = 10_000, SessionName = "second" }),
            session.Message(new CancelRequest { RequestHandle = 5 }),
        ];
    }
}
