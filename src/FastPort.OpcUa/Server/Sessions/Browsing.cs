using System.Buffers.Binary;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Browses nodes for a session, and keeps its continuation points (OPC 10000-4, 7.9). Under the session's gate.
/// </summary>
internal sealed class Browsing(int maxContinuationPoints)
{
    // The oldest first.
    private readonly SortedDictionary<ulong, (BrowseDescription Description, uint Most, int From)> _points = [];
    private ulong _lastPoint;

    // The last point before the request.
    private ulong _before;

    /// <summary>A request begins; <see cref="EndRequest"/> follows.</summary>
    public void BeginRequest() => _before = _lastPoint;

    /// <summary>Frees as many points of earlier requests as this one has needed.</summary>
    public void EndRequest()
    {
        while (_points.Count > maxContinuationPoints)
        {
            _points.Remove(_points.First().Key);
        }
    }

    public BrowseResult Begin(AddressSpace space, in BrowseDescription description, uint most, ref BrowseBudget budget) =>
        Browse(space, description, most, from: 0, ref budget);

    public BrowseResult Continue(AddressSpace space, ByteString point, ref BrowseBudget budget)
    {
        ulong id = IdOf(point);
        if (!_points.TryGetValue(id, out var rest))
        {
            return new BrowseResult { StatusCode = StatusCodes.BadContinuationPointInvalid };
        }

        // Its turn comes with the next request.
        if (budget.IsUsedUp)
        {
            return new BrowseResult { ContinuationPoint = point };
        }

        _points.Remove(id);
        return Browse(space, rest.Description, rest.Most, rest.From, ref budget);
    }

    public void Release(ByteString point) => _points.Remove(IdOf(point));

    // 0 is none.
    private static ulong IdOf(ByteString point) =>
        point.Length == sizeof(ulong) ? BinaryPrimitives.ReadUInt64LittleEndian(point.Span) : 0;

    private BrowseResult Browse(AddressSpace space, in BrowseDescription description, uint most, int from, ref BrowseBudget budget)
    {
        if (space.Find(description.NodeId) is not { } node)
        {
            return new BrowseResult { StatusCode = StatusCodes.BadNodeIdUnknown };
        }

        if ((uint)description.BrowseDirection > (uint)BrowseDirection.Both)
        {
            return new BrowseResult { StatusCode = StatusCodes.BadBrowseDirectionInvalid };
        }

        NodeId type = description.ReferenceTypeId;
        if (!type.IsNull && space.Find(type) is not { NodeClass: NodeClass.ReferenceType })
        {
            return new BrowseResult { StatusCode = StatusCodes.BadReferenceTypeIdInvalid };
        }

        // References are only appended, so an index stays valid.
        ReadOnlySpan<Reference> references = node.References;

        // To be browsed again, like others without a point.
        if (budget.IsUsedUp)
        {
            return new BrowseResult { StatusCode = StatusCodes.BadNoContinuationPoints };
        }

        long before = budget.Bytes;
        List<ReferenceDescription> found = [];
        for (int i = from; i < references.Length; i++)
        {
            Reference reference = references[i];
            budget.Visit(1);
            if (!Matches(space, description, reference))
            {
                continue;
            }

            ReferenceDescription one = Describe(reference, description.ResultMask);
            if ((most == 0 || found.Count < most) && budget.TryAdd(one))
            {
                found.Add(one);
                continue;
            }

            if (TryInterrupt(description, most, i) is { } point)
            {
                return new BrowseResult { ContinuationPoint = point, References = [.. found] };
            }

            budget.Undo(before);
            return new BrowseResult { StatusCode = StatusCodes.BadNoContinuationPoints };
        }

        return new BrowseResult { References = [.. found] };
    }

    private static bool Matches(AddressSpace space, in BrowseDescription description, in Reference reference) =>
        (description.BrowseDirection == BrowseDirection.Both
            || reference.IsForward == (description.BrowseDirection == BrowseDirection.Forward))
        && (description.NodeClassMask == 0 || ((uint)reference.Target.NodeClass & description.NodeClassMask) != 0)
        && (description.ReferenceTypeId.IsNull
            || space.IsOfType(reference.TypeId, description.ReferenceTypeId, description.IncludeSubtypes));

    // A request may use all points: those of earlier ones are freed at its end. Null if it already has all.
    private byte[]? TryInterrupt(in BrowseDescription description, uint most, int from)
    {
        if (_lastPoint - _before >= (ulong)maxContinuationPoints)
        {
            return null;
        }

        ulong id = ++_lastPoint;
        _points.Add(id, (description, most, from));
        byte[] point = new byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(point, id);
        return point;
    }

    // The bits of the result mask (OPC 10000-4, 5.9.2.2).
    private static ReferenceDescription Describe(in Reference reference, uint mask)
    {
        const uint ReferenceType = 1, IsForward = 2, Class = 4, BrowseName = 8, DisplayName = 16, TypeDefinition = 32;
        Node target = reference.Target;
        return new ReferenceDescription
        {
            NodeId = target.Id,
            ReferenceTypeId = (mask & ReferenceType) != 0 ? reference.TypeId : NodeId.Null,
            IsForward = (mask & IsForward) != 0 && reference.IsForward,
            NodeClass = (mask & Class) != 0 ? target.NodeClass : NodeClass.Unspecified,
            BrowseName = (mask & BrowseName) != 0 ? target.BrowseName : default,
            DisplayName = (mask & DisplayName) != 0 ? target.DisplayName : default,
            TypeDefinition = (mask & TypeDefinition) != 0 ? target.TypeDefinition : NodeId.Null,
        };
    }
}
