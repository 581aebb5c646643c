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

    [Theory]
    [InlineData(0u)]
    [InlineData(150u)]
    public async Task What_has_no_room_in_a_response_comes_with_the_next_one(uint most)
    {
        const int Folders = 10, Nodes = 500;
        await using TestServer server = await StartWithFolderAsync(Nodes);
        using RawSession session = await RawSession.OpenAsync(server, maxMessageBytes: 8192);
        BrowseResult[] results = (await session.CallAsync<BrowseRequest, BrowseResponse>(Browse(Folders, most))).Results!;
        List<ReferenceDescription>[] found = [.. Enumerable.Range(0, Folders).Select(static _ => new List<ReferenceDescription>())];
        int[] folders = [.. Enumerable.Range(0, Folders)];

        // A response without references would not lead to the end.
        while (true)
        {
            Assert.Contains(results, static one => one.References is { Length: > 0 });
            Assert.All(results, static one => Assert.Equal(StatusCodes.Good, one.StatusCode));
            foreach ((int folder, BrowseResult result) in folders.Zip(results))
            {
                found[folder].AddRange(result.References ?? []);
            }

            folders = [.. folders.Where((_, i) => results[i].ContinuationPoint.Length != 0)];
            if (folders.Length == 0)
            {
                break;
            }

            ByteString[] points = [.. results.Select(static one => one.ContinuationPoint).Where(static point => point.Length != 0)];
            results = (await session.CallAsync<BrowseNextRequest, BrowseNextResponse>(
                new BrowseNextRequest { ContinuationPoints = points })).Results!;
        }

        Assert.All(found, static all => Assert.Equal(
            Enumerable.Range(0, Nodes).Select(static i => $"v{i}"),
            all.Where(static one => one.NodeClass == NodeClass.Variable).Select(static one => one.BrowseName.Name)));
    }

    [Fact]
    public void A_reference_counts_the_bytes_that_it_takes_in_a_response()
    {
        string text = new('水', 1000);
        NodeId[] ids =
        [
            default, new(0, 255), new(0, 256), new(2, 1), new(255, 65_535), new(256, 1), new(300, uint.MaxValue), new(2, text),
            new(2, Guid.NewGuid()), new(2, new byte[3000]),
        ];
        foreach (NodeId id in ids)
        {
            var one = new ReferenceDescription
            {
                ReferenceTypeId = new NodeId(0, 35),
                NodeId = id,
                BrowseName = new QualifiedName(2, text),
                DisplayName = new LocalizedText(text, text),
                TypeDefinition = new NodeId(0, 11_564),
            };
            AssertBytes(one);
            AssertBytes(new ReferenceDescription { NodeId = id });
        }

        static void AssertBytes(in ReferenceDescription one)
        {
            var budget = new BrowseBudget(long.MaxValue);
            budget.TryAdd(one);
            Assert.Equal(RawChannel.Encode(one).Length, budget.Bytes);
        }
    }

    [Fact]
    public async Task Points_that_are_released_have_no_results_and_are_gone()
    {
        await using TestServer server = await StartWithFolderAsync(nodes: 10);
        using RawSession session = await RawSession.OpenAsync(server);
        BrowseResult[] made = (await session.CallAsync<BrowseRequest, BrowseResponse>(Browse(count: 3, most: 1))).Results!;
        var request = new BrowseNextRequest { ContinuationPoints = [.. made.Select(static one => one.ContinuationPoint)] };
        BrowseNextRequest release = request;
        (release.ReleaseContinuationPoints, release.ContinuationPoints) = (true, request.ContinuationPoints[..2]);

        BrowseNextResponse released = await session.CallAsync<BrowseNextRequest, BrowseNextResponse>(release);
        BrowseResult[] results = (await session.CallAsync<BrowseNextRequest, BrowseNextResponse>(request)).Results!;

        Assert.Empty(released.Results!);
        Assert.Equal(
            [StatusCodes.BadContinuationPointInvalid, StatusCodes.BadContinuationPointInvalid, StatusCodes.Good],
            results.Select(static one => one.StatusCode));
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
        browsing.EndRequest();

        budget.Visit(2_000_000);
        browsing.BeginRequest();
        BrowseResult later = browsing.Continue(space, point, ref budget);
        StatusCode other = browsing.Begin(space, description, most: 1, ref budget).StatusCode;
        browsing.EndRequest();

        Assert.Equal(StatusCodes.Good, later.StatusCode);
        Assert.Null(later.References);
        Assert.Equal(point.Span, later.ContinuationPoint.Span);
        Assert.Equal(StatusCodes.BadNoContinuationPoints, other);
        budget = new BrowseBudget(mostBytes: 100_000);
        Assert.Single(browsing.Continue(space, point, ref budget).References!);
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
