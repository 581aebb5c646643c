using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Browse, TranslateBrowsePathsToNodeIds, RegisterNodes (OPC 10000-4, 5.9).</content>
public sealed partial class OpcUaClient
{
    // The type of all references of a tree (OPC 10000-5, 11.2).
    private const uint HierarchicalReferences = 33;

    // Each may have many references; a response is limited.
    private const int MaxNodesPerBrowse = 100;

    // A server with an endless list must not use up all memory.
    private const int MaxReferences = 1_000_000;

    // Nor a server with few references that have very long names. In memory, in addition to the fixed size of a reference.
    private const long MaxNameBytes = 256 * 1024 * 1024;

    // Consecutive answers that contain nothing but a continuation point.
    private const int MaxEmptyAnswers = 1000;

    // One list at a time: a server frees the continuation points of an earlier request if a later one needs them (OPC 10000-4, 7.9).
    private readonly SemaphoreSlim _browsing = new(1);

    /// <summary>Lists the references of a node that lead to other nodes, up to a million references and 256 MiB of names and ids.</summary>
    /// <param name="node">The node.</param>
    /// <param name="direction">Which references. Defaults to those that begin at the node.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="OpcUaException">The service or the node's result is bad; BadTooManyMatches: there are more.</exception>
    public async ValueTask<IReadOnlyList<ReferenceDescription>> BrowseAsync(
        NodeId node, BrowseDirection direction = BrowseDirection.Forward, CancellationToken cancellationToken = default)
    {
        BrowsedNode[] browsed = await BrowseAsync([node], direction, cancellationToken).ConfigureAwait(false);
        return browsed[0].Status.IsBad ? throw Failed("Browse", browsed[0].Status) : browsed[0].References;
    }

    /// <summary>
    /// Lists the references of nodes that lead to other nodes, up to a million references per hundred nodes and 256 MiB of names and ids.
    /// More nodes than the server browses at a time are browsed in several requests.
    /// </summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="direction">Which references. Defaults to those that begin at the node.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// A result for each node, in order; its status says whether it was browsed. BadTooManyMatches: it has more references than its request
    /// may list.
    /// </returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<BrowsedNode[]> BrowseAsync(
        IReadOnlyList<NodeId> nodes, BrowseDirection direction = BrowseDirection.Forward, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        NamespaceTable namespaces = Namespaces;
        var browsed = new BrowsedNode[nodes.Count];
        int[] left = [.. Enumerable.Range(0, nodes.Count)];
        int before;
        await _browsing.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            do
            {
                before = left.Length;
                await InPartsAsync(
                    left,
                    Bulk.Browse,
                    "Browse",
                    part => BrowsePartAsync(nodes, direction, part, browsed, namespaces, cancellationToken),
                    cancellationToken,
                    MaxNodesPerBrowse).ConfigureAwait(false);

                // A session has few continuation points: nodes that got none are browsed again when those of the others are free.
                left = Array.FindAll(left, i => browsed[i].Status == StatusCodes.BadNoContinuationPoints);
            }
            while (left.Length != 0 && left.Length < before);
        }
        finally
        {
            _browsing.Release();
        }

        return browsed;
    }

    /// <summary>
    /// Finds nodes by their browse names, step by step along hierarchical references. More paths than the server accepts at a time are sent
    /// in several requests.
    /// </summary>
    /// <param name="start">Where each path begins.</param>
    /// <param name="paths">The browse names of each path; at least one name.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A result for each path, in order. BadNoMatch: there is no such node.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<TranslatedPath[]> TranslateBrowsePathsAsync(
        NodeId start, IReadOnlyList<IReadOnlyList<QualifiedName>> paths, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(paths);
        NamespaceTable namespaces = Namespaces;
        List<TranslatedPath> found = [];
        await InPartsAsync(
            paths, Bulk.TranslateBrowsePaths, "TranslateBrowsePathsToNodeIds", TranslateAsync, cancellationToken).ConfigureAwait(false);
        return [.. found];

        async Task TranslateAsync(IReadOnlyList<QualifiedName>[] part)
        {
            TranslateBrowsePathsResponse response =
                await InvokeOnceAsync<TranslateBrowsePathsRequest, TranslateBrowsePathsResponse>(
                    new TranslateBrowsePathsRequest { BrowsePaths = [.. part.Select(path => PathOf(start, path))] },
                    "TranslateBrowsePathsToNodeIds",
                    cancellationToken,
                    namespaces).ConfigureAwait(false);
            found.AddRange(
                Results(response.Results, part.Length, "TranslateBrowsePathsToNodeIds").Select(static result => PathOf(result)));
        }
    }

    /// <summary>
    /// Announces to the server that nodes will be used often (OPC 10000-4, 5.9.5). The ids that it returns are valid in this session: they
    /// end when the client reconnects with a new session (<see cref="SessionRecovery.Replaced"/>).
    /// </summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The ids to use, in order.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<NodeId[]> RegisterNodesAsync(IReadOnlyList<NodeId> nodes, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        NamespaceTable namespaces = Namespaces;
        List<NodeId> registered = [];
        await InPartsAsync(nodes, Bulk.RegisterNodes, "RegisterNodes", RegisterAsync, cancellationToken).ConfigureAwait(false);
        return [.. registered];

        async Task RegisterAsync(NodeId[] part)
        {
            RegisterNodesResponse response = await InvokeOnceAsync<RegisterNodesRequest, RegisterNodesResponse>(
                new RegisterNodesRequest { NodesToRegister = part }, "RegisterNodes", cancellationToken, namespaces).ConfigureAwait(false);
            registered.AddRange(Results(response.RegisteredNodeIds, part.Length, "RegisterNodes"));
        }
    }

    /// <summary>Ends a registration of <see cref="RegisterNodesAsync"/> (OPC 10000-4, 5.9.6).</summary>
    /// <param name="nodes">The ids that it returned.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask UnregisterNodesAsync(IReadOnlyList<NodeId> nodes, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        NamespaceTable namespaces = Namespaces;
        await InPartsAsync(
            nodes,
            Bulk.RegisterNodes,
            "UnregisterNodes",
            part => InvokeOnceAsync<UnregisterNodesRequest, UnregisterNodesResponse>(
                new UnregisterNodesRequest { NodesToUnregister = part }, "UnregisterNodes", cancellationToken, namespaces).AsTask(),
            cancellationToken).ConfigureAwait(false);
    }

    // Browses some of the nodes, with one Browse and as many BrowseNext as necessary.
    private async Task BrowsePartAsync(
        IReadOnlyList<NodeId> nodes, BrowseDirection direction, int[] part, BrowsedNode[] browsed, NamespaceTable namespaces,
        CancellationToken cancellationToken)
    {
        const uint AllFields = 63;
        Array.ForEach(part, i => browsed[i] = default);
        BrowseResponse response = await InvokeOnceAsync<BrowseRequest, BrowseResponse>(
            new BrowseRequest
            {
                NodesToBrowse = Array.ConvertAll(part, i => new BrowseDescription
                {
                    NodeId = nodes[i],
                    BrowseDirection = direction,
                    ReferenceTypeId = new NodeId(0, HierarchicalReferences),
                    IncludeSubtypes = true,
                    ResultMask = AllFields,
                }),
                RequestedMaxReferencesPerNode = (uint)_options.MaxReferencesPerBrowse,
            },
            "Browse",
            cancellationToken,
            namespaces).ConfigureAwait(false);
        BrowseResult[] results = Results(response.Results, part.Length, "Browse");
        int empty = 0;
        long count = 0;
        long bytes = 0;
        while (true)
        {
            count += results.Sum(static result => result.References?.Length ?? 0);
            bytes += results.Sum(static result => result.References?.Sum(static one => NameBytesOf(one)) ?? 0);
            empty = Array.Exists(results, static result => result.References is { Length: > 0 }) ? 0 : empty + 1;
            bool isEnough = count >= MaxReferences || bytes >= MaxNameBytes || empty >= MaxEmptyAnswers;
            List<ByteString> given = [];
            for (int i = 0; i < part.Length; i++)
            {
                BrowsedNode joined = Join(browsed[part[i]], results[i]);
                if (results[i].ContinuationPoint.Length != 0 && isEnough)
                {
                    given.Add(results[i].ContinuationPoint);
                    results[i].ContinuationPoint = default;
                    joined = new BrowsedNode(StatusCodes.BadTooManyMatches, []);
                }

                browsed[part[i]] = joined;
            }

            if (given.Count != 0)
            {
                Release([.. given]);
            }

            part = [.. part.Where((_, i) => results[i].ContinuationPoint.Length != 0)];
            ByteString[] points = [.. results.Select(static result => result.ContinuationPoint).Where(static point => point.Length != 0)];
            if (part.Length == 0)
            {
                return;
            }

            BrowseNextResponse next;
            try
            {
                next = await BrowseNextAsync(points, release: false, cancellationToken).ConfigureAwait(false);
            }
            catch (OperationCanceledException)
            {
                Release(points);
                throw;
            }

            results = Results(next.Results, part.Length, "BrowseNext");
        }
    }

    // A session has few continuation points. The answer is not awaited.
    private void Release(ByteString[] points) => _ = BrowseNextAsync(points, release: true, CancellationToken.None).AsTask()
        .ContinueWith(static task => _ = task.Exception, TaskScheduler.Default);

    private static long NameBytesOf(in ReferenceDescription one) =>
        NameBytesOf(one.ReferenceTypeId) + NameBytesOf(one.NodeId) + NameBytesOf(one.TypeDefinition)
        + NameBytesOf(one.BrowseName.Name) + NameBytesOf(one.DisplayName.Locale) + NameBytesOf(one.DisplayName.Text);

    private static long NameBytesOf(in ExpandedNodeId id) =>
        NameBytesOf(id.NamespaceUri) + NameBytesOf(id.NodeId.Text) + (id.NodeId.Bytes?.Length ?? 0);

    private static long NameBytesOf(string? text) => (text?.Length ?? 0) * (long)sizeof(char);

    private static BrowsedNode Join(in BrowsedNode before, in BrowseResult next)
    {
        if (next.StatusCode.IsBad || before.References is not { Count: > 0 })
        {
            return new BrowsedNode(next.StatusCode, next.StatusCode.IsBad ? [] : next.References ?? []);
        }

        List<ReferenceDescription> references = before.References as List<ReferenceDescription> ?? [.. before.References];
        references.AddRange(next.References ?? []);
        return new BrowsedNode(next.StatusCode, references);
    }

    private ValueTask<BrowseNextResponse> BrowseNextAsync(ByteString[] points, bool release, CancellationToken cancellationToken) =>
        InvokeOnceAsync<BrowseNextRequest, BrowseNextResponse>(
            new BrowseNextRequest { ReleaseContinuationPoints = release, ContinuationPoints = points }, "BrowseNext", cancellationToken);

    private static BrowsePath PathOf(NodeId start, IReadOnlyList<QualifiedName> names) => new()
    {
        StartingNode = start,
        RelativePath =
        [
            .. names.Select(static name => new RelativePathElement
            {
                ReferenceTypeId = new NodeId(0, HierarchicalReferences),
                IncludeSubtypes = true,
                TargetName = name,
            }),
        ],
    };

    // A path into another server has a remaining part, which this server cannot follow.
    private static TranslatedPath PathOf(in BrowsePathResult result) =>
        result.StatusCode.IsBad ? new TranslatedPath(result.StatusCode, default)
        : (result.Targets ?? []) is [var first, ..] && first.RemainingPathIndex == uint.MaxValue
            ? new TranslatedPath(result.StatusCode, first.TargetId)
        : new TranslatedPath(StatusCodes.BadNoMatch, default);

    private T[] Results<T>(T[]? results, int count, string service) =>
        results is not null && results.Length == count ? results : throw Failed(service, StatusCodes.BadUnknownResponse);
}
