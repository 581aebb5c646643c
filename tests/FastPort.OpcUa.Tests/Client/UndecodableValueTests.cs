using FastPort.OpcUa.Client;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Values that cannot be decoded cost themselves alone; and those that other stacks send and that can be.</summary>
public sealed class UndecodableValueTests : IAsyncLifetime
{
    // An Int32 and its value.
    private static readonly byte[] Seven = [1, 6, 7, 0, 0, 0];

    // An Int32 matrix of 3 x 0 elements, as open62541 and asyncua send it.
    private static readonly byte[] Empty = [1, 0xC6, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];

    // One element in 3 x 2: it is read to its end.
    private static readonly byte[] Unfit = [1, 0xC6, 1, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0];

    // A type that there is not: nobody knows where its value ends.
    private static readonly byte[] Unknown = [1, 0x3F, 1, 2, 3];

    private readonly ScriptedServer _server = new();
    private readonly RecordingLog _log = new();
    private OpcUaClient _client = null!;

    public async ValueTask InitializeAsync() => _client = await OpcUaClient.ConnectAsync(_server.Url, loggerFactory: _log);

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task A_matrix_without_elements_is_read_with_its_neighbors()
    {
        Serve(Seven, Empty, Seven, Seven, Seven);

        DataValue[] values = await _client.ReadAsync(NodesOf(5));

        Assert.All(values, static value => Assert.Equal(StatusCodes.Good, value.Status));
        Assert.Equal([3, 0], values[1].Value.Dimensions.ToArray());
        Assert.Empty(values[1].Value.GetArray<int>()!);
        Assert.All([0, 2, 3, 4], i => Assert.Equal(7, values[i].Value.Get<int>()));
    }

    [Fact]
    public async Task A_value_that_is_none_costs_itself_alone_in_one_request()
    {
        Func<int> requests = Serve(Seven, Unfit, Seven);

        DataValue[] values = await _client.ReadAsync(NodesOf(3));
        await _client.ReadAsync(NodesOf(3));

        Assert.Equal([StatusCodes.Good, StatusCodes.BadDecodingError, StatusCodes.Good], values.Select(static value => value.Status));
        Assert.True(values[1].Value.IsNull);
        Assert.Equal(7, values[2].Value.Get<int>());
        Assert.Equal(2, requests());
        Assert.Contains("a value of ns=1;i=1 that", Assert.Single(_log.WithId(7111)).Text, StringComparison.Ordinal);
    }

    /// <summary>Ids are the server's text: they must not make lines of their own.</summary>
    [Fact]
    public async Task The_id_of_a_node_is_escaped_in_the_log()
    {
        Serve(Unfit);

        await _client.ReadAsync([new NodeId(1, "a\nb")]);

        Assert.Contains(@"a value of ns=1;s=a\u000Ab that", Assert.Single(_log.WithId(7111)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_value_whose_end_cannot_be_found_is_read_alone()
    {
        Func<int> requests = Serve([.. Enumerable.Range(0, 128).Select(static i => i == 77 ? Unknown : Seven)]);

        DataValue[] values = await _client.ReadAsync(NodesOf(128));

        Assert.Equal(StatusCodes.BadDecodingError, values[77].Status);
        Assert.All(values.Index().Where(static one => one.Index != 77), static one => Assert.Equal(7, one.Item.Value.Get<int>()));
        Assert.InRange(requests(), 2, 30);
        Assert.Contains("a value of ns=1;i=77 that", Assert.Single(_log.WithId(7111)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Changes_beside_one_that_cannot_be_decoded_are_reported()
    {
        var script = new ScriptedSubscription(_server);
        await using OpcUaSubscription subscription = await _client.SubscribeAsync();
        IReadOnlyList<OpcUaMonitoredItem> items =
            await subscription.AddItemsAsync([.. NodesOf(3).Select(static node => new MonitoredItemOptions(node))]);
        int lost = 0;
        subscription.ValuesLost += (_, _) => lost++;

        await script.PublishAsync(Message(1, items, Seven, Unfit, Seven));
        DataChange[] changes = [await subscription.NextAsync(), await subscription.NextAsync(), await subscription.NextAsync()];
        Assert.Equal(items, changes.Select(static change => change.Item));
        Assert.Equal(
            [StatusCodes.Good, StatusCodes.BadDecodingError, StatusCodes.Good], changes.Select(static change => change.Value.Status));
        Assert.Equal(0, lost);

        // What is behind it is lost, and said to be.
        await script.PublishAsync(Message(2, items, Seven, Unknown, Seven));
        DataChange first = await subscription.NextAsync();
        Assert.Equal((items[0], 7), (first.Item, first.Value.Value.Get<int>()));
        await Patience.UntilAsync(() => lost == 1, "the loss is told");
        Assert.Contains("a value of ns=1;i=1 that", Assert.Single(_log.WithId(7111)).Text, StringComparison.Ordinal);
    }

    private static NodeId[] NodesOf(int count) => [.. Enumerable.Range(0, count).Select(static i => new NodeId(1, (uint)i))];

    private static NotificationMessage Message(uint number, IReadOnlyList<OpcUaMonitoredItem> items, params byte[][] values) => new()
    {
        SequenceNumber = number,
        NotificationData =
        [
            new ExtensionObject(
                new NodeId(0, DataChangeNotification.EncodingIdNumber),
                ExtensionObjectEncoding.Binary,
                new ByteString(
                [
                    .. BitConverter.GetBytes(values.Length),
                    .. values.SelectMany((value, i) => (byte[])[.. BitConverter.GetBytes(items[i].Handle), .. value]),
                    .. BitConverter.GetBytes(-1),
                ])),
        ],
    };

    // Node i has the i-th value. Returns how often it was read.
    private Func<int> Serve(params byte[][] values)
    {
        int requests = 0;
        _server.On<ReadRequest>(call =>
        {
            requests++;
            ReadValueId[] nodes = call.Request<ReadRequest>().NodesToRead!;
            return call.ReplyAsync(new RawReadResponse
            {
                Bytes =
                [
                    .. BitConverter.GetBytes(nodes.Length),
                    .. nodes.SelectMany(node => values[node.NodeId.Number]),
                    .. BitConverter.GetBytes(-1),
                ],
            });
        });
        return () => requests;
    }

    // A ReadResponse whose results need not be values.
    private struct RawReadResponse : IServiceMessage
    {
        public byte[] Bytes;

        public static ushort EncodingId => ReadResponse.EncodingIdNumber;

        readonly void IStructure.Code<T>(ref T codec)
        {
            foreach (byte one in Bytes)
            {
                byte value = one;
                codec.Field(ref value);
            }
        }
    }
}
