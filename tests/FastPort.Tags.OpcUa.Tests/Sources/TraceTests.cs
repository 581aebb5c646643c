using System.Diagnostics;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>One trace from the caller of a tag's read or write to the OPC UA service.</summary>
[Collection<TraceCollection>]
public sealed class TraceTests : IAsyncLifetime
{
    private readonly RecordedActivities _activities = new();
    private Bridged _bridged = null!;

    public async ValueTask InitializeAsync() => _bridged = await Bridged.StartAsync(
        static space =>
        {
            ushort ns = space.AddNamespace(Bridged.NamespaceUri);
            var root = new NodeId(ns, 1);
            space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Plant"));
            space.AddVariable(root, new NodeId(ns, 10), new QualifiedName(ns, "speed"), 1500.5, writable: true);
        },
        ("Endpoints:plant:EndpointUrl", "{url}"),
        ("Endpoints:plant:AllowWrite", "true"),
        ("Endpoints:plant:Below:0", $"nsu={Bridged.NamespaceUri};i=1"));

    public async ValueTask DisposeAsync()
    {
        _activities.Dispose();
        await _bridged.DisposeAsync();
    }

    [Theory]
    [InlineData("Read", "ReadTags")]
    [InlineData("Write", "WriteTags")]
    public async Task A_read_or_write_of_a_tag_is_one_trace_down_to_the_OPC_UA_service(string service, string message)
    {
        TagList tags = await _bridged.Client.ResolveAsync(["plant/speed"]);
        _activities.Clear();
        using Activity test = RecordedActivities.Begin();

        if (service == "Read")
        {
            Assert.Equal(1500.5, (await _bridged.Client.ReadAsync(tags).InTimeAsync()).GetValue(0));
        }
        else
        {
            var values = new TagSamples();
            values.Add(2.5);
            Assert.Equal([TagStatus.Good], await _bridged.Client.WriteAsync(tags, values).InTimeAsync());
        }

        Activity[] way =
        [
            test,
            await _activities.OneAsync(ActivityKind.Client, message),
            await _activities.OneAsync(ActivityKind.Server, message),
            await _activities.OneAsync(ActivityKind.Client, service),
        ];
        Assert.All(way, activity => Assert.Equal(test.TraceId, activity.TraceId));
        Assert.All(way.Zip(way.Skip(1)), static step => Assert.Equal(step.First.SpanId, step.Second.ParentSpanId));
        Activity opcUa = way[^1];
        Assert.Equal(
            ("FastPort.OpcUa", "opcua", service, "127.0.0.1", ActivityStatusCode.Unset),
            (opcUa.Source.Name, opcUa.GetTagItem("rpc.system"), opcUa.GetTagItem("rpc.method"), opcUa.GetTagItem("server.address"),
                opcUa.Status));
    }

    [Fact]
    public async Task A_change_is_no_part_of_the_trace_of_who_subscribed_and_Publish_has_no_activity()
    {
        using Activity test = RecordedActivities.Begin();
        await using TagWatch watch = await TagWatch.StartAsync(_bridged.Client, "plant/speed");
        await watch.UntilAsync("plant/speed", TagStatus.Good, 1500.5);
        Activity subscribed = await _activities.OneAsync(ActivityKind.Server, "SubscribeTags");
        test.Stop();

        // The subscription's first values are acknowledged after they were shown.
        await Patience.UntilAsync(() => LastOf("AcknowledgeUpdates") >= LastOf("TagUpdate"), "the first values were acknowledged");
        await Patience.UntilSteadyAsync(() => _activities.Ended.Count, "what belongs to the subscription has ended");
        _activities.Clear();

        Activity.Current = null;
        await _bridged.Client.WriteAsync("plant/speed", 3.5);
        await watch.UntilAsync("plant/speed", TagStatus.Good, 3.5);

        Activity update = await _activities.OneAsync(ActivityKind.Consumer, "TagUpdate");
        Assert.Equal((test.TraceId, default), (subscribed.TraceId, update.ParentSpanId));
        Assert.Contains(_activities.Ended, static activity => activity.OperationName == "Write");
        Assert.DoesNotContain(_activities.Ended, activity => activity.OperationName == "Publish" || activity.TraceId == test.TraceId);
    }

    // When the last one of this name began; null if none has ended.
    private DateTime? LastOf(string name) =>
        _activities.Ended.Where(activity => activity.OperationName == name).Max(static activity => (DateTime?)activity.StartTimeUtc);
}
