using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Tags;
using Xunit;

namespace FastPort.OpcBridge.Tests;

/// <summary>
/// The other way round: a FastPort client publishes tags through the bridge program, and an OPC UA client uses them as variables.
/// </summary>
public sealed class PublishedTagsTests : IAsyncLifetime
{
    private readonly CancellationTokenSource _limit = new(TimeSpan.FromSeconds(60));
    private readonly MemoryTagSource _press = new();
    private BridgeProcess _bridge = null!;
    private string _endpoint = null!;
    private string _url = null!;
    private TagClient _publisher = null!;
    private OpcUaClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _press.Add("press/speed", 12.5, isWritable: true);
        _press.Add("press/table", TagValue.FromArray([1, 2]), isWritable: true);
        _press.Add("press", "idle");
        _press.Add(new TagInfo(0, "press/any") { IsWritable = true }, 1);
        _bridge = BridgeProcess.Start(
            ["--listen", "tcp://127.0.0.1:0"],
            ("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"),
            ("OpcUaServer__Certificates__Directory", "pki"));
        _endpoint = await _bridge.ListeningAsync("tcp");
        _url = await _bridge.ListeningAsync("opc.tcp");
        _publisher = await ConnectAsync("press-4");
        _client = await OpcUaClient.ConnectAsync(_url, cancellationToken: _limit.Token);
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _publisher.DisposeAsync();
        await _bridge.DisposeAsync();
        _limit.Dispose();
    }

    [Fact]
    public async Task Published_tags_are_browsed_read_written_and_subscribed()
    {
        TagPublication publication = await _publisher.PublishAsync(_press);
        Assert.All(publication.Statuses, static status => Assert.Equal(TagStatus.Good, status));
        IReadOnlyList<ReferenceDescription> objects = await _client.BrowseAsync(new NodeId(0, 85));
        NodeId folder = objects.Single(static one => one.BrowseName.Name == "Published").NodeId.NodeId;
        Assert.Equal(["press", "press"], await NamesAsync(folder));
        Assert.Equal(["any", "speed", "table"], await NamesAsync(Id("press/")));
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(20) }, _limit.Token);
        await subscription.AddItemsAsync(
            [new MonitoredItemOptions(Id("press/speed")) { SamplingInterval = TimeSpan.Zero, QueueSize = 100 }], _limit.Token);
        await UntilAsync(subscription, value => value.Value == 12.5);

        for (int i = 1; i <= 10; i++)
        {
            _press.Set("press/speed", (double)i);
        }

        for (int i = 1; i <= 10; i++)
        {
            DataChange change = await subscription.Changes.ReadAsync(_limit.Token);
            Assert.Equal((Variant)(double)i, change.Value.Value);
            Assert.NotEqual(default, change.Value.SourceTimestamp);
        }

        Assert.Equal(
            [StatusCodes.Good, StatusCodes.Good, StatusCodes.Good, StatusCodes.BadTypeMismatch, StatusCodes.BadNotWritable],
            await _client.WriteAsync(
                [
                    new(Id("press/speed"), 50.0), new(Id("press/table"), Variant.FromArray([3])), new(Id("press/any"), "text"),
                    new(Id("press/speed"), 50), new(Id("press"), "down"),
                ],
                _limit.Token));
        await UntilAsync(subscription, static value => value.Value == 50.0);
        DataValue[] values = await _client.ReadAsync([Id("press/table"), Id("press/any"), Id("press")]);
        Assert.Equal([Variant.FromArray([3]), "text", "idle"], values.Select(static value => value.Value));

        // FastPort's own clients have them, too.
        await using TagClient other = await ConnectAsync(string.Empty);
        Assert.Equal(50.0, (await other.ReadAsync("press/speed")).Value);
    }

    [Fact]
    public async Task A_publisher_that_goes_is_BadNoCommunication_and_what_it_declares_again_is_the_same_variable()
    {
        await _publisher.PublishAsync(_press);
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(20) }, _limit.Token);
        await subscription.AddItemsAsync(
            [new MonitoredItemOptions(Id("press/speed")) { SamplingInterval = TimeSpan.Zero, QueueSize = 100 }], _limit.Token);
        await UntilAsync(subscription, static value => value.Value == 12.5 && value.Status.IsGood);

        await _publisher.DisposeAsync();
        await UntilAsync(subscription, static value => value.Status == StatusCodes.BadNoCommunication);
        Assert.Equal(
            [StatusCodes.BadNoCommunication], await _client.WriteAsync([new(Id("press/speed"), 50.0)], _limit.Token));

        _press.Set("press/speed", 13.5);
        _publisher = await ConnectAsync("press-4");
        await _publisher.PublishAsync(_press);
        await UntilAsync(subscription, static value => value.Value == 13.5 && value.Status.IsGood);
        Assert.Equal([StatusCodes.Good], await _client.WriteAsync([new(Id("press/speed"), 50.0)], _limit.Token));
    }

    [Fact]
    public async Task A_value_that_OPC_UA_does_not_have_is_told_and_concerns_no_other_tag()
    {
        _press.Add(new TagInfo(0, "press/node") { Type = TagType.NodeId }, TagValue.FromBytes(TagType.NodeId, [255]));
        _press.Add("press/zero", 0);
        await _publisher.PublishAsync(_press);
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(20) }, _limit.Token);
        await subscription.AddItemsAsync(
            [new MonitoredItemOptions(Id("press/zero")) { SamplingInterval = TimeSpan.Zero, QueueSize = 100 }], _limit.Token);
        await UntilAsync(subscription, static value => value.Value == 0 && value.Status.IsGood);
        Assert.Equal(StatusCodes.BadTypeMismatch, (await _client.ReadAsync([Id("press/node")]))[0].Status);

        await _publisher.DisposeAsync();
        await UntilAsync(subscription, static value => value.Status == StatusCodes.BadNoCommunication);
    }

    [Fact]
    public async Task A_bridge_with_endpoints_takes_no_tags_unless_it_is_allowed()
    {
        await using var bridge = BridgeProcess.Start(
            ["--listen", "tcp://127.0.0.1:0"],
            ("OpcBridge__Endpoints__plant__EndpointUrl", "opc.tcp://127.0.0.1:1"),
            ("OpcBridge__Endpoints__plant__Below__0", "i=85"));
        await using TagClient publisher = await TagClient.ConnectAsync(
            new FastPortClientOptions { Endpoint = await bridge.ListeningAsync("tcp"), RoutingId = "press-4" });

        FastPort.RequestFailedException e =
            await Assert.ThrowsAsync<FastPort.RequestFailedException>(() => publisher.PublishAsync(_press).AsTask());

        Assert.Equal(FastPort.ErrorCode.UnknownType, e.Code);
    }

    [Fact]
    public async Task Limits_are_those_of_the_configuration()
    {
        await using var bridge = BridgeProcess.Start(
            ["--listen", "tcp://127.0.0.1:0"],
            ("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"),
            ("OpcUaServer__Certificates__Directory", "pki"),
            ("OpcBridge__Published__MaxTags", "3"),
            ("OpcBridge__Published__MaxTagsPerPublisher", "2"),
            ("OpcBridge__Published__MaxNameLength", "10"));
        await using TagClient publisher = await TagClient.ConnectAsync(
            new FastPortClientOptions { Endpoint = await bridge.ListeningAsync("tcp"), RoutingId = "press-4" });

        TagPublication publication = await publisher.PublishAsync(
            _press, new TagPublicationOptions { Names = ["press/speed", "press/any", "press/table", "press"] });

        Assert.Equal(
            [TagStatus.BadInvalidArgument, TagStatus.Good, TagStatus.BadInvalidArgument, TagStatus.Good], publication.Statuses);
        _press.Add("one more", 1);
        publication = await publisher.PublishAsync(_press, new TagPublicationOptions { Names = ["one more"] });
        Assert.Equal([TagStatus.BadTooManyOperations], publication.Statuses);
    }

    private NodeId Id(string name) => _client.Namespaces.MakeId("urn:fastport:published", name);

    private Task<TagClient> ConnectAsync(string routingId) =>
        TagClient.ConnectAsync(new FastPortClientOptions { Endpoint = _endpoint, RoutingId = routingId });

    private async Task<IEnumerable<string?>> NamesAsync(NodeId node) =>
        (await _client.BrowseAsync(node)).Select(static reference => reference.BrowseName.Name).Order();

    private async Task UntilAsync(OpcUaSubscription subscription, Predicate<DataValue> condition)
    {
        while (!condition((await subscription.Changes.ReadAsync(_limit.Token)).Value))
        {
        }
    }
}
