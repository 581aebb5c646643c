using FastPort.OpcUa;
using FastPort.OpcUa.Server;
using FastPort.Tags;
using FastPort.Tags.OpcUa;
using FastPort.Tags.OpcUa.Sources;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>What holds for every source that connects to OPC UA servers, whichever stack it uses.</summary>
public abstract class OpcUaSourceContract : TagSourceContract
{
    private const string NamespaceUri = "urn:fastport:test:press";

    private static readonly (string Name, BuiltInType Type, TagValue Value)[] Scalars =
    [
        ("bool", BuiltInType.Boolean, true), ("sbyte", BuiltInType.SByte, TagValue.From((sbyte)-8)),
        ("byte", BuiltInType.Byte, TagValue.From((byte)200)), ("int16", BuiltInType.Int16, TagValue.From((short)-16)),
        ("uint16", BuiltInType.UInt16, TagValue.From((ushort)16)), ("int32", BuiltInType.Int32, -32), ("uint32", BuiltInType.UInt32, 32u),
        ("int64", BuiltInType.Int64, -64L), ("uint64", BuiltInType.UInt64, TagValue.From(64UL)),
        ("float", BuiltInType.Float, 1.5f), ("double", BuiltInType.Double, 2.5), ("string", BuiltInType.String, "text"),
        ("time", BuiltInType.DateTime, new DateTime(2026, 11, 24, 12, 0, 0, DateTimeKind.Utc)),
        ("bytes", BuiltInType.ByteString, TagValue.From(new byte[] { 1, 2, 3 })),
        ("guid", BuiltInType.Guid, TagValue.FromBytes(TagType.Guid, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])),
        ("label", BuiltInType.LocalizedText, TagValue.FromBytes(TagType.LocalizedText, [2, 3, 0, 0, 0, (byte)'a', (byte)'b', (byte)'c'])),
    ];

    private static readonly (string Name, BuiltInType Type, TagValue Value)[] Arrays =
    [
        ("doubles", BuiltInType.Double, TagValue.FromArray([1.5, 2.5])), ("texts", BuiltInType.String, TagValue.FromArray(["a", "b"])),
        ("matrix", BuiltInType.Int32, TagValue.FromArray([1, 2, 3, 4, 5, 6], 2, 3)),
    ];

    [Fact]
    public async Task Values_of_all_types_are_read_written_and_reported()
    {
        await using PressServer server = await PressServer.StartAsync(Create, Values);
        foreach ((string name, _, TagValue value) in Scalars.Concat(Arrays))
        {
            int tag = await server.TagAsync($"press/{name}");
            await using FeedWatch watch = await FeedWatch.StartAsync(server.Source, tag);
            await watch.UntilAsync(tag, default);

            var statuses = new TagStatus[1];
            var written = new TagSamples();
            written.Add(value);
            Assert.Equal(TagStatus.Good, await server.Source.WriteAsync([tag], written, statuses, Patience.Token).InTimeAsync());
            Assert.Equal((name, TagStatus.Good), (name, statuses[0]));
            TagSample read = await server.ReadAsync(tag);
            Assert.Equal((name, value, TagStatus.Good), (name, read.Value, read.Status));
            await watch.UntilAsync(tag, value);
        }

        static void Values(AddressSpace space, ushort ns, NodeId root)
        {
            foreach ((string name, BuiltInType type, TagValue value) in Scalars.Concat(Arrays))
            {
                VariableNode node = space.AddVariableOfType(
                    root, new NodeId(ns, name), new QualifiedName(ns, name), type, value.IsArray ? -2 : -1, Keep);
                node.Value = new DataValue(Variant.Null);
            }
        }
    }

    [Fact]
    public async Task A_tag_whose_node_the_server_does_not_have_has_a_status_and_leaves_the_others()
    {
        await using PressServer server = await PressServer.StartAsync(Create);
        int gone = await server.TagAsync("gone");
        int speed = await server.TagAsync("press/speed");
        var samples = new TagSamples();
        Assert.Equal(TagStatus.Good, await server.Source.ReadAsync([gone, speed], samples, Patience.Token).InTimeAsync());
        Assert.Equal([TagStatus.BadNodeIdUnknown, TagStatus.Good], Enumerable.Range(0, 2).Select(samples.GetStatus));

        await using FeedWatch watch = await FeedWatch.StartAsync(server.Source, speed);
        var statuses = new TagStatus[2];
        await watch.Feed.AddAsync([gone, speed], statuses, Patience.Token).InTimeAsync();
        Assert.Equal([TagStatus.BadNodeIdUnknown, TagStatus.Good], statuses);
        await watch.UntilAsync(speed, 12.5);
    }

    /// <summary>Node ids hold for one session of the server: after a restart its namespaces may have other indexes.</summary>
    [Fact]
    public async Task Tags_keep_their_nodes_when_the_namespaces_of_a_restarted_server_have_moved()
    {
        await using PressServer server = await PressServer.StartAsync(Create);
        int speed = await server.TagAsync("press/speed");
        await using FeedWatch watch = await FeedWatch.StartAsync(server.Source, speed);
        await watch.UntilAsync(speed, 12.5);

        await server.LoseAsync();
        await Patience.UntilAsync(() => !server.Source.IsConnected, "the source reports the loss");
        server.Shift = "urn:another";
        await server.ReturnAsync();
        await Patience.UntilAsync(() => server.Source.IsConnected, "the server is back");

        Assert.Equal((12.5, TagStatus.Good), await server.ReadAsync(speed) is var read ? (read.Value, read.Status) : default);
        server.Set("press/speed", 13.0);
        await watch.UntilAgainAsync(speed, 13.0);
    }

    /// <summary>The connection stays, and nothing is answered.</summary>
    [Fact]
    public async Task Calls_to_a_server_that_is_stuck_end_when_nobody_waits_for_them()
    {
        await using PressServer server = await PressServer.StartAsync(Create, isRelayed: true);
        int speed = await server.TagAsync("press/speed");
        server.Relay!.Freeze();
        using var brief = new CancellationTokenSource(TimeSpan.FromMilliseconds(50));
        var written = new TagSamples();
        written.Add(20.5);

        Task<TagStatus> reading = server.Source.ReadAsync([speed], new TagSamples(), brief.Token).AsTask();
        Task<TagStatus> writing = server.Source.WriteAsync([speed], written, new TagStatus[1], brief.Token).AsTask();
        await Task.WhenAll((Task)reading, writing).WaitAsync(Patience.Limit).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        Assert.True(reading.IsCompleted && writing.IsCompleted);
        Assert.False(reading.IsCompletedSuccessfully && reading.Result.IsGood);
        Assert.False(writing.IsCompletedSuccessfully && writing.Result.IsGood);

        server.Relay.Thaw();
        await Patience.UntilAsync(
            async () => server.Source.IsConnected && (await server.ReadAsync(speed)).Status.IsGood, "the server answers again");
    }

    [Fact]
    public async Task What_the_configuration_does_not_allow_is_refused_without_the_server()
    {
        await using PressServer server = await PressServer.StartAsync(Create, allowWrite: false);
        int speed = await server.TagAsync("press/speed");
        var infos = new TagInfo?[1];
        await server.Source.ResolveAsync(["press/speed"], infos, Patience.Token);
        var inputs = new TagSamples();
        inputs.Add(2);
        inputs.Add(3);

        Assert.False(infos[0]!.IsWritable);
        Assert.Equal(
            TagStatus.BadUserAccessDenied,
            await server.Source.CallAsync("press/add", inputs, new TagSamples(), Patience.Token).InTimeAsync());
        Assert.Equal(12.5, (await server.ReadAsync(speed)).Value);
    }

    /// <summary>With a policy, a user's name and certificates, to a server that starts later.</summary>
    [Fact]
    public async Task A_connection_is_encrypted_as_configured_and_made_when_the_server_starts()
    {
        await using PressServer server = await PressServer.StartAsync(Create, isLater: true, configure: static options =>
        {
            options.Client.SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256;
            options.Client.UserName = "operator";
            options.Client.Password = "secret";
        });
        Assert.False(server.Source.IsConnected);

        await server.ReturnAsync();
        await Patience.UntilAsync(() => server.Source.IsConnected, "the server is found");
        Assert.Equal(12.5, (await server.ReadAsync(await server.TagAsync("press/speed"))).Value);
    }

    protected override async Task<SourceUnderTest> StartAsync() => await PressServer.StartAsync(Create);

    /// <summary>Makes the source of an endpoint.</summary>
    private protected abstract OpcUaTagSource Create(OpcUaEndpointOptions options, OpcUaTagsOptions settings);

    private static ValueTask Keep(
        ReadOnlyMemory<VariableWrite> writes, Memory<StatusCode> statuses, CancellationToken cancellationToken)
    {
        foreach (VariableWrite write in writes.Span)
        {
            write.Variable.Value = write.Value;
        }

        return ValueTask.CompletedTask;
    }

    /// <summary>The press as an OPC UA server, with a source in front of it.</summary>
    private sealed class PressServer : SourceUnderTest
    {
        private readonly TemporaryDirectory _folder = new();
        private readonly OpcUaPeer _server;
        private readonly Dictionary<string, VariableNode> _nodes = new(StringComparer.Ordinal);
        private readonly OpcUaTagSource _source;

        private PressServer(
            Func<OpcUaEndpointOptions, OpcUaTagsOptions, OpcUaTagSource> create,
            Action<AddressSpace, ushort, NodeId>? more,
            bool allowWrite,
            bool isRelayed,
            Action<OpcUaEndpointOptions>? configure)
        {
            _server = new OpcUaPeer(
                space => Build(space, more),
                static options => options.ValidateUser = static (user, password, _) => new((user, password) == ("operator", "secret")));
            Relay = isRelayed ? new FreezingRelay(_server.Url) : null;
            var settings = new OpcUaTagsOptions();
            var options = new OpcUaEndpointOptions { Name = "press", AllowWrite = allowWrite, Below = { $"nsu={NamespaceUri};i=1" } };
            options.Client.EndpointUrl = Relay?.Url ?? _server.Url;
            options.Client.Certificates.Directory = _folder.Path;
            options.Client.Certificates.UnsafeTrustAll = true;
            options.Client.KeepAliveInterval = TimeSpan.FromSeconds(1);
            configure?.Invoke(options);
            settings.Endpoints.Add(options);
            settings.Tags.Add(new OpcUaTagOptions { Name = "gone", Endpoint = "press", NamespaceUri = NamespaceUri, NodeId = "i=99" });
            _source = create(options, settings);
        }

        public override ITagSource Source => _source;

        public FreezingRelay? Relay { get; }

        /// <summary>A namespace that the server has before that of the press.</summary>
        public string? Shift { get; set; }

        public static async Task<PressServer> StartAsync(
            Func<OpcUaEndpointOptions, OpcUaTagsOptions, OpcUaTagSource> create,
            Action<AddressSpace, ushort, NodeId>? more = null,
            bool allowWrite = true,
            bool isRelayed = false,
            bool isLater = false,
            Action<OpcUaEndpointOptions>? configure = null)
        {
            var server = new PressServer(create, more, allowWrite, isRelayed, configure);
            if (!isLater)
            {
                await server.ReturnAsync();
            }

            server._source.Start();
            if (!isLater)
            {
                await server._source.Loaded.InTimeAsync();
            }

            return server;
        }

        public override void Set(string name, TagValue value) =>
            _nodes[name].Value = new DataValue(value.Type == TagType.Double ? Variant.From(value.Get<double>()) : value.Get<string>());

        public override Task LoseAsync() => _server.StopAsync();

        public override Task ReturnAsync() => _server.StartAsync();

        public async Task<int> TagAsync(string name)
        {
            var infos = new TagInfo?[1];
            await Source.ResolveAsync([name], infos, Patience.Token).InTimeAsync();
            return infos[0]!.Tag;
        }

        public async Task<TagSample> ReadAsync(int tag)
        {
            var samples = new TagSamples();
            TagStatus status = await Source.ReadAsync([tag], samples, Patience.Token).InTimeAsync();
            return status.IsGood ? samples[0] : TagSample.Bad(status);
        }

        public override async ValueTask DisposeAsync()
        {
            await Source.DisposeAsync();
            if (Relay is not null)
            {
                await Relay.DisposeAsync();
            }

            await _server.DisposeAsync();
            _folder.Dispose();
        }

        private void Build(AddressSpace space, Action<AddressSpace, ushort, NodeId>? more)
        {
            if (Shift is { } shift)
            {
                space.AddNamespace(shift);
            }

            ushort ns = space.AddNamespace(NamespaceUri);
            var root = new NodeId(ns, 1);
            space.AddObject(AddressSpace.ObjectsFolder, root, new QualifiedName(ns, "Press"));
            _nodes["press/speed"] = space.AddVariable(root, new NodeId(ns, 10), new QualifiedName(ns, "speed"), 12.5, writable: true);
            _nodes["press/state"] = space.AddVariable(root, new NodeId(ns, 11), new QualifiedName(ns, "state"), "idle");
            space.AddArrayVariable(root, new NodeId(ns, 12), new QualifiedName(ns, "counts"), [1, 2, 3], writable: true);
            space.AddMethod(
                root,
                new NodeId(ns, 13),
                new QualifiedName(ns, "add"),
                [new("a", BuiltInType.Int32), new("b", BuiltInType.Int32)],
                [new("sum", BuiltInType.Int32)],
                static (inputs, _) => new(MethodResult.Good(inputs.Span[0].Get<int>() + inputs.Span[1].Get<int>())));
            more?.Invoke(space, ns, root);
        }
    }
}
