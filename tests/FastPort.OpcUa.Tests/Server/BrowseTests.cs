using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

public sealed class BrowseTests
{
    private static readonly NodeId Folder = new(2, 1);
    private static readonly NodeId Unknown = new(2, 99_999);

    [Theory]
    [InlineData(1000)]
    [InlineData(7)]
    public async Task All_references_are_found_however_many_come_at_a_time(int atATime)
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            space.AddFolder(AddressSpace.ObjectsFolder, Folder, new QualifiedName(2, "Folder"));
            for (uint i = 0; i < 100; i++)
            {
                space.AddVariable(Folder, new NodeId(2, 100 + i), new QualifiedName(2, $"v{i}"), (int)i);
            }
        });
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { MaxReferencesPerBrowse = atATime });

        IReadOnlyList<ReferenceDescription> references = await client.BrowseAsync(Folder);

        Assert.Equal(
            Enumerable.Range(0, 100).Select(static i => new QualifiedName(2, $"v{i}")), references.Select(static r => r.BrowseName));
        Assert.All(references, static r => Assert.Equal(
            (NodeClass.Variable, new NodeId(0, 47), new NodeId(0, 63), true),
            (r.NodeClass, r.ReferenceTypeId, r.TypeDefinition.NodeId, r.IsForward)));
    }

    [Fact]
    public void A_folder_with_many_nodes_takes_the_next_one_without_a_copy_of_all()
    {
        const int Nodes = 5000;
        var space = new AddressSpace(new OpcUaServerOptions(), TimeProvider.System);
        ushort ns = space.AddNamespace("urn:fastport:test");
        Node folder = space.AddFolder(AddressSpace.ObjectsFolder, new NodeId(ns, 1), new QualifiedName(ns, "Folder"));
        long before = GC.GetAllocatedBytesForCurrentThread();

        for (uint i = 0; i < Nodes; i++)
        {
            space.AddFolder(folder.Id, new NodeId(ns, 100 + i), new QualifiedName(ns, "below"));
        }

        Assert.InRange((GC.GetAllocatedBytesForCurrentThread() - before) / Nodes, 0, 2000);
        Assert.Equal(
            Enumerable.Range(0, Nodes).Select(i => new NodeId(ns, 100 + (uint)i)),
            folder.References.ToArray().Where(static one => one.TypeId == new NodeId(0, 35)).Skip(1).Select(static one => one.Target.Id));
    }

    [Fact]
    public async Task The_whole_tree_can_be_walked_from_the_root()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
            space.AddFolder(AddressSpace.ObjectsFolder, Folder, new QualifiedName(2, "Folder")));
        await using OpcUaClient client = await server.ConnectAsync();
        HashSet<NodeId> seen = [];

        await WalkAsync(new NodeId(0, 84));

        Assert.Contains(Folder, seen);
        Assert.Contains(new NodeId(0, 2255), seen);
        Assert.Contains(new NodeId(0, 11), seen);
        DataValue[] names = await client.ReadAsync([.. seen], AttributeId.DisplayName);
        Assert.All(names, static v => Assert.Equal(StatusCodes.Good, v.Status));

        async Task WalkAsync(NodeId node)
        {
            if (seen.Add(node))
            {
                foreach (ReferenceDescription reference in await client.BrowseAsync(node))
                {
                    await WalkAsync(reference.NodeId.NodeId);
                }
            }
        }
    }

    [Fact]
    public async Task A_node_that_is_not_there_fails_with_its_status()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using OpcUaClient client = await server.ConnectAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(async () => await client.BrowseAsync(new NodeId(2, 5)));

        Assert.Equal(StatusCodes.BadNodeIdUnknown, e.Status);
    }

    [Theory]
    [InlineData(1000, 1000, 10)]
    [InlineData(4, 5, 1)]
    [InlineData(1, 1000, 3)]
    public async Task Many_nodes_are_browsed_whatever_the_server_serves_at_a_time(int atATime, int maxNodes, int maxPoints)
    {
        await using TestServer server = await TestServer.StartAsync(
            static space =>
            {
                for (uint folder = 0; folder < 12; folder++)
                {
                    space.AddFolder(AddressSpace.ObjectsFolder, new NodeId(2, 1 + folder), new QualifiedName(2, $"f{folder}"));
                    for (uint i = 0; i < folder; i++)
                    {
                        space.AddVariable(new NodeId(2, 1 + folder), new NodeId(2, 1000 + (100 * folder) + i), $"{folder}.{i}", 0);
                    }
                }
            },
            options => (options.MaxNodesPerBrowse, options.MaxBrowseContinuationPoints) = (maxNodes, maxPoints));
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { MaxReferencesPerBrowse = atATime });

        BrowsedNode[] browsed = await client.BrowseAsync([.. Enumerable.Range(1, 12).Select(static i => new NodeId(2, (uint)i)), Unknown]);

        Assert.Equal(13, browsed.Length);
        Assert.All(Enumerable.Range(0, 12), i => Assert.Equal(
            Enumerable.Range(0, i).Select(n => new QualifiedName(0, $"{i}.{n}")), browsed[i].References.Select(static r => r.BrowseName)));
        Assert.All(browsed[..12], static one => Assert.Equal(StatusCodes.Good, one.Status));
        Assert.Equal((StatusCodes.BadNodeIdUnknown, 0), (browsed[12].Status, browsed[12].References.Count));
        Assert.Empty(await client.BrowseAsync(Array.Empty<NodeId>()));
    }

    [Fact]
    public async Task Browses_at_the_same_time_take_no_continuation_points_from_each_other()
    {
        const int Each = 4;
        await using TestServer server = await TestServer.StartAsync(
            static space => AddNodes(space, Folder, 20), static options => options.MaxBrowseContinuationPoints = 1);
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { MaxReferencesPerBrowse = Each });

        IReadOnlyList<ReferenceDescription>[] all = await Task.WhenAll(
            Enumerable.Range(0, 8).Select(_ => client.BrowseAsync(Folder).AsTask()));

        Assert.All(all, static references => Assert.Equal(20, references.Count));
    }

    [Fact]
    public async Task A_node_with_more_references_than_a_server_without_continuation_points_tells_fails_alone()
    {
        await using TestServer server = await TestServer.StartAsync(
            static space => space.AddFolder(AddressSpace.ObjectsFolder, Folder, new QualifiedName(2, "Folder")),
            static options => options.MaxBrowseContinuationPoints = 0);
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { MaxReferencesPerBrowse = 1 });

        BrowsedNode[] browsed = await client.BrowseAsync([AddressSpace.ObjectsFolder, Folder]);

        Assert.Equal([StatusCodes.BadNoContinuationPoints, StatusCodes.Good], browsed.Select(static one => one.Status));
    }

    [Fact]
    public async Task A_response_that_is_too_large_is_given_up_on_the_way_and_its_continuation_points_are_free()
    {
        await using TestServer server = await StartWithFolderAsync(nodes: 200);
        using RawSession session = await RawSession.OpenAsync(server, maxMessageBytes: 8192);

        (StatusCode status, _) = await session.TryAsync<BrowseRequest, BrowseResponse>(Browse(count: 10, most: 150));
        BrowseResponse few = await session.CallAsync<BrowseRequest, BrowseResponse>(Browse(count: 10, most: 1));

        Assert.Equal(StatusCodes.BadResponseTooLarge, status);
        Assert.All(few.Results!, static one => Assert.Equal((StatusCodes.Good, 8), (one.StatusCode, one.ContinuationPoint.Length)));
    }

    [Fact]
    public void Browsing_ends_where_the_response_is_full()
    {
        var space = new AddressSpace(new OpcUaServerOptions(), TimeProvider.System);
        ushort ns = space.AddNamespace("urn:fastport:test");
        AddNodes(space, new NodeId(ns, 1), 5000);
        var browsing = new Browsing(maxContinuationPoints: 10);
        var budget = new BrowseBudget(mostBytes: 100_000);
        var description = new BrowseDescription { NodeId = new NodeId(ns, 1), ResultMask = 63, IncludeSubtypes = true };

        long found = 0;
        for (int i = 0; i < 100; i++)
        {
            found += browsing.Begin(space, description, most: 0, ref budget).References?.Length ?? 0;
        }

        Assert.True(budget.IsFull);
        Assert.InRange(found, 1000, 5000);
    }

    [Fact]
    public async Task One_request_looks_at_so_many_references_and_tells_which_nodes_it_has_left_out()
    {
        await using TestServer server = await StartWithFolderAsync(nodes: 5000);
        using RawSession session = await RawSession.OpenAsync(server);
        var path = new BrowsePath
        {
            StartingNode = Folder,
            RelativePath = [new RelativePathElement { TargetName = new QualifiedName(2, "not there") }],
        };

        // Objects have no such class of nodes below them.
        BrowseRequest none = Browse(count: 1000, most: 0);
        none.NodesToBrowse = [.. none.NodesToBrowse!.Select(static one =>
        {
            one.NodeClassMask = (uint)NodeClass.View;
            return one;
        })];
        BrowseResult[] browsed = (await session.CallAsync<BrowseRequest, BrowseResponse>(none)).Results!;
        BrowsePathResult[] paths = (await session.CallAsync<TranslateBrowsePathsRequest, TranslateBrowsePathsResponse>(
            new TranslateBrowsePathsRequest { BrowsePaths = [.. Enumerable.Repeat(path, 1000)] })).Results!;

        AssertCut(StatusCodes.Good, StatusCodes.BadNoContinuationPoints, browsed.Select(static result => result.StatusCode));
        AssertCut(StatusCodes.BadNoMatch, StatusCodes.BadQueryTooComplex, paths.Select(static result => result.StatusCode));

        static void AssertCut(StatusCode before, StatusCode after, IEnumerable<StatusCode> statuses)
        {
            int done = statuses.TakeWhile(status => status == before).Count();
            Assert.InRange(done, 100, 500);
            Assert.All(statuses.Skip(done), status => Assert.Equal(after, status));
        }
    }

    [Theory]
    [InlineData(20, 1000, 8192)]
    [InlineData(1, 20_000, 0)]
    public async Task Of_many_nodes_with_more_references_than_asked_for_ten_get_points_and_the_others_cost_nothing(
        uint most, uint nodes, uint maxMessageBytes)
    {
        await using TestServer server = await StartWithFolderAsync(nodes);
        using RawSession session = await RawSession.OpenAsync(server, maxMessageBytes: maxMessageBytes);
        BrowseRequest request = Browse(count: 100, most);
        request.NodesToBrowse = [.. request.NodesToBrowse!.Select(static one =>
        {
            one.ResultMask = 0;
            return one;
        })];

        BrowseResult[] results = (await session.CallAsync<BrowseRequest, BrowseResponse>(request)).Results!;

        Assert.All(results[..10], one => Assert.Equal(
            (StatusCodes.Good, 8, (int)most), (one.StatusCode, one.ContinuationPoint.Length, one.References!.Length)));
        Assert.All(results[10..], static one => Assert.Equal(
            (StatusCodes.BadNoContinuationPoints, 0, 0),
            (one.StatusCode, one.ContinuationPoint.Length, one.References?.Length ?? 0)));
    }

    [Fact]
    public async Task A_request_frees_the_oldest_points_of_earlier_ones_that_it_needs()
    {
        await using TestServer server = await StartWithFolderAsync(nodes: 10);
        using RawSession session = await RawSession.OpenAsync(server);
        ByteString[] first = await BrowseAsync(8);
        ByteString[] second = await BrowseAsync(5);

        // Three of the first had to go.
        BrowseResult[] results = (await session.CallAsync<BrowseNextRequest, BrowseNextResponse>(
            new BrowseNextRequest { ContinuationPoints = [.. first, .. second] })).Results!;
        Assert.All(results[..3], static one => Assert.Equal(StatusCodes.BadContinuationPointInvalid, one.StatusCode));
        Assert.All(results[3..], static one => Assert.Equal((StatusCodes.Good, 8), (one.StatusCode, one.ContinuationPoint.Length)));

        async Task<ByteString[]> BrowseAsync(int count)
        {
            BrowseResult[] made = (await session.CallAsync<BrowseRequest, BrowseResponse>(Browse(count, most: 1))).Results!;
            Assert.All(made, static one => Assert.Equal((StatusCodes.Good, 8), (one.StatusCode, one.ContinuationPoint.Length)));
            return [.. made.Select(static one => one.ContinuationPoint)];
        }
    }

    [Fact]
    public void A_point_whose_turn_does_not_come_in_a_request_stays()
    {
        var space = new AddressSpace(new OpcUaServerOptions(), TimeProvider.System);
        ushort ns = space.AddNamespace("urn:fastport:test");
        AddNodes(space, new NodeId(ns, 1), 3);
        var browsing = new Browsing(maxContinuationPoints: 10);
        var budget = new BrowseBudget(mostBytes: 100_000);
        var description = new BrowseDescription { NodeId = new NodeId(ns, 1), ResultMask = 63, IncludeSubtypes = true };
        browsing.BeginRequest();
        ByteString point = browsing.Begin(space, description, most: 1, ref budget).ContinuationPoint;
        browsing.EndRequest(isSent: true);

        budget.Visit(2_000_000);
        browsing.BeginRequest();
        BrowseResult later = browsing.Continue(space, point, releases: false, ref budget);
        StatusCode other = browsing.Begin(space, description, most: 1, ref budget).StatusCode;
        browsing.EndRequest(isSent: true);

        Assert.Equal(StatusCodes.Good, later.StatusCode);
        Assert.Null(later.References);
        Assert.Equal(point.Span, later.ContinuationPoint.Span);
        Assert.Equal(StatusCodes.BadNoContinuationPoints, other);
        budget = new BrowseBudget(mostBytes: 100_000);
        Assert.Single(browsing.Continue(space, point, releases: false, ref budget).References!);
    }

    [Fact]
    public async Task The_namespaces_are_listed()
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.ApplicationUri = "urn:here");
        await using OpcUaClient client = await server.ConnectAsync();

        DataValue[] values = await client.ReadAsync([new NodeId(0, 2255), new NodeId(0, 2254)]);

        Assert.Equal(["http://opcfoundation.org/UA/", "urn:here", "urn:fastport:test"], values[0].Value.GetArray<string>()!);
        Assert.Equal(["urn:here"], values[1].Value.GetArray<string>()!);
    }

    private static Task<TestServer> StartWithFolderAsync(uint nodes) => TestServer.StartAsync(space => AddNodes(space, Folder, nodes));

    private static void AddNodes(AddressSpace space, NodeId folder, uint nodes)
    {
        space.AddFolder(AddressSpace.ObjectsFolder, folder, new QualifiedName(folder.NamespaceIndex, "Folder"));
        for (uint i = 0; i < nodes; i++)
        {
            space.AddVariable(folder, new NodeId(folder.NamespaceIndex, 100 + i), new QualifiedName(folder.NamespaceIndex, $"v{i}"), 0);
        }
    }

    // Of the same folder many times.
    private static BrowseRequest Browse(int count, uint most) => new()
    {
        RequestedMaxReferencesPerNode = most,
        NodesToBrowse = [.. Enumerable.Repeat(
            new BrowseDescription { NodeId = Folder, BrowseDirection = BrowseDirection.Forward, ResultMask = 63, IncludeSubtypes = true },
            count)],
    };
}
