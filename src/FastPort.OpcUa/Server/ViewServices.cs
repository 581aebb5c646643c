using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>Browse, BrowseNext, TranslateBrowsePathsToNodeIds and RegisterNodes (OPC 10000-4, 5.9).</summary>
internal static class ViewServices
{
    public static void Browse(in ServiceCall call, ref BinaryDecoder decoder)
    {
        BrowseRequest request = decoder.ReadStructure<BrowseRequest>();
        if (Refuse(call, decoder.Error, request.NodesToBrowse?.Length ?? 0, call.Server.Options.MaxNodesPerBrowse) is { } refused)
        {
            call.Fault(refused);
            return;
        }

        if (!request.View.ViewId.IsNull)
        {
            call.Fault(StatusCodes.BadViewIdUnknown);
            return;
        }

        var results = new BrowseResult[request.NodesToBrowse!.Length];
        long room = RoomFor(call, results.Length);
        if (room < 0)
        {
            call.Fault(StatusCodes.BadResponseTooLarge);
            return;
        }

        AddressSpace space = call.Server.AddressSpace;
        Browsing browsing = call.Session!.Browsing;
        uint most = request.RequestedMaxReferencesPerNode;
        browsing.BeginRequest();
        var budget = new BrowseBudget(room);
        for (int i = 0; i < results.Length; i++)
        {
            results[i] = browsing.Begin(space, request.NodesToBrowse[i], most, ref budget);
        }

        browsing.EndRequest();
        call.Reply(new BrowseResponse { Results = results });
    }

    public static void BrowseNext(in ServiceCall call, ref BinaryDecoder decoder)
    {
        BrowseNextRequest request = decoder.ReadStructure<BrowseNextRequest>();
        if (Refuse(call, decoder.Error, request.ContinuationPoints?.Length ?? 0, call.Server.Options.MaxNodesPerBrowse) is { } refused)
        {
            call.Fault(refused);
            return;
        }

        AddressSpace space = call.Server.AddressSpace;
        Browsing browsing = call.Session!.Browsing;
        if (request.ReleaseContinuationPoints)
        {
            // Without results (OPC 10000-4, 5.9.3.2).
            Array.ForEach(request.ContinuationPoints!, browsing.Release);
            call.Reply(new BrowseNextResponse { Results = [] });
            return;
        }

        var results = new BrowseResult[request.ContinuationPoints!.Length];
        long room = RoomFor(call, results.Length);
        if (room < 0)
        {
            call.Fault(StatusCodes.BadResponseTooLarge);
            return;
        }

        browsing.BeginRequest();
        var budget = new BrowseBudget(room);
        for (int i = 0; i < results.Length; i++)
        {
            results[i] = browsing.Continue(space, request.ContinuationPoints[i], ref budget);
        }

        browsing.EndRequest();
        call.Reply(new BrowseNextResponse { Results = results });
    }

    public static void Translate(in ServiceCall call, ref BinaryDecoder decoder)
    {
        TranslateBrowsePathsRequest request = decoder.ReadStructure<TranslateBrowsePathsRequest>();
        if (Refuse(call, decoder.Error, request.BrowsePaths?.Length ?? 0, call.Server.Options.MaxNodesPerBrowse) is { } refused)
        {
            call.Fault(refused);
            return;
        }

        AddressSpace space = call.Server.AddressSpace;
        var budget = new BrowseBudget(call.Channel.LargestResponse);
        var results = new BrowsePathResult[request.BrowsePaths!.Length];
        for (int i = 0; i < results.Length; i++)
        {
            results[i] = Follow(space, request.BrowsePaths[i], ref budget);
        }

        call.Reply(new TranslateBrowsePathsResponse { Results = results });
    }

    /// <summary>Node ids are as good as any handle: they are returned as they are.</summary>
    public static void Register(in ServiceCall call, ref BinaryDecoder decoder)
    {
        RegisterNodesRequest request = decoder.ReadStructure<RegisterNodesRequest>();
        if (Refuse(call, decoder.Error, request.NodesToRegister?.Length ?? 0, call.Server.Options.MaxNodesPerBrowse) is { } refused)
        {
            call.Fault(refused);
            return;
        }

        call.Reply(new RegisterNodesResponse { RegisteredNodeIds = request.NodesToRegister });
    }

    public static void Unregister(in ServiceCall call, ref BinaryDecoder decoder)
    {
        UnregisterNodesRequest request = decoder.ReadStructure<UnregisterNodesRequest>();
        if (Refuse(call, decoder.Error, request.NodesToUnregister?.Length ?? 0, call.Server.Options.MaxNodesPerBrowse) is { } refused)
        {
            call.Fault(refused);
            return;
        }

        call.Reply(default(UnregisterNodesResponse));
    }

    // The bytes for references in the response to a Browse or BrowseNext: without its header, and the status, point and length of each
    // result. Its chunks have headers and signatures, together less than a 64th.
    private static long RoomFor(in ServiceCall call, int results)
    {
        const int ResponseBytes = 64, ResultBytes = 12, PointBytes = 8;
        int largest = call.Channel.LargestResponse;
        int points = Math.Min(results, call.Server.Options.MaxBrowseContinuationPoints);
        return largest - (largest / 64) - ResponseBytes - ((long)ResultBytes * results) - ((long)PointBytes * points);
    }

    private static StatusCode? Refuse(in ServiceCall call, StatusCode decoding, int count, int most) =>
        !decoding.IsGood ? decoding
        : count == 0 ? StatusCodes.BadNothingToDo
        : count > most ? StatusCodes.BadTooManyOperations
        : null;

    private static BrowsePathResult Follow(AddressSpace space, in BrowsePath path, ref BrowseBudget budget)
    {
        if (space.Find(path.StartingNode) is not { } start)
        {
            return new BrowsePathResult { StatusCode = StatusCodes.BadNodeIdUnknown };
        }

        if (path.RelativePath is not { Length: > 0 } elements)
        {
            return new BrowsePathResult { StatusCode = StatusCodes.BadNothingToDo };
        }

        HashSet<Node> nodes = [start];
        foreach (RelativePathElement element in elements)
        {
            if (element.TargetName.Name is not { Length: > 0 })
            {
                return new BrowsePathResult { StatusCode = StatusCodes.BadBrowseNameInvalid };
            }

            HashSet<Node> next = [];
            foreach (Node node in nodes)
            {
                if (budget.IsUsedUp)
                {
                    return new BrowsePathResult { StatusCode = StatusCodes.BadQueryTooComplex };
                }

                ReadOnlySpan<Reference> references = node.References;
                budget.Visit(references.Length);
                foreach (Reference reference in references)
                {
                    if (reference.IsForward != element.IsInverse
                        && reference.Target.BrowseName == element.TargetName
                        && (element.ReferenceTypeId.IsNull
                            || space.IsOfType(reference.TypeId, element.ReferenceTypeId, element.IncludeSubtypes)))
                    {
                        next.Add(reference.Target);
                    }
                }
            }

            nodes = next;
        }

        return nodes.Count == 0
            ? new BrowsePathResult { StatusCode = StatusCodes.BadNoMatch }
            : new BrowsePathResult
            {
                Targets = [.. nodes.Select(static node => new BrowsePathTarget { TargetId = node.Id, RemainingPathIndex = uint.MaxValue })],
            };
    }
}
