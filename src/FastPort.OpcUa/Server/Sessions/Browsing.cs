using System.Buffers.Binary;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Browses nodes for a session, and keeps its continuation points (OPC 10000-4, 7.9). Under the session's gate.
/// </summary>
internal sealed class Browsing(int maxContinuationPoints)
{
    private readonly Dictionary<ulong, (BrowseDescription Description, uint Most, int From)> _points = [];
    private ulong _lastPoint;

    /// <summary>The continuation point that was made last.</summary>
    public ulong LastPoint => _lastPoint;

    public BrowseResult Begin(AddressSpace space, in BrowseDescription description, uint most, ref BrowseBudget budget) =>
        Browse(space, description, most, from: 0, ref budget);

    /// <summary>Forgets the points that were made after this one: their results were not sent.</summary>
    public void ForgetAfter(ulong point)
    {
        while (_lastPoint > point)
        {
            _points.Remove(_lastPoint--);
        }
    }

    public BrowseResult Continue(AddressSpace space, ByteString point, bool releases, ref BrowseBudget budget)
    {
        if (point.Length != sizeof(ulong)
            || !_points.Remove(BinaryPrimitives.ReadUInt64LittleEndian(point.Span), out var rest))
        {
            return new BrowseResult { StatusCode = StatusCodes.BadContinuationPointInvalid };
        }

        return releases ? default : Browse(space, rest.Description, rest.Most, rest.From, ref budget);
    }

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

        // References are only ever added behind the others, so an index stays right.
        ReadOnlySpan<Reference> references = node.References;
        if (!budget.TryVisit(references.Length - from))
        {
            return new BrowseResult { StatusCode = StatusCodes.BadTooManyOperations };
        }

        List<ReferenceDescription> found = [];
        for (int i = from; i < references.Length && !budget.IsFull; i++)
        {
            Reference reference = references[i];
            if (!Matches(space, description, reference))
            {
                continue;
            }

            if (most != 0 && found.Count == most)
            {
                return Interrupt(description, most, i, found);
            }

            ReferenceDescription one = Describe(reference, description.ResultMask);
            budget.Add(one);
            found.Add(one);
        }

        return new BrowseResult { References = [.. found] };
    }

    private static bool Matches(AddressSpace space, in BrowseDescription description, in Reference reference) =>
        (description.BrowseDirection == BrowseDirection.Both
            || reference.IsForward == (description.BrowseDirection == BrowseDirection.Forward))
        && (description.NodeClassMask == 0 || ((uint)reference.Target.NodeClass & description.NodeClassMask) != 0)
        && (description.ReferenceTypeId.IsNull
            || space.IsOfType(reference.TypeId, description.ReferenceTypeId, description.IncludeSubtypes));

    private BrowseResult Interrupt(in BrowseDescription description, uint most, int from, List<ReferenceDescription> found)
    {
        if (_points.Count >= maxContinuationPoints)
        {
            return new BrowseResult { StatusCode = StatusCodes.BadNoContinuationPoints };
        }

        ulong id = ++_lastPoint;
        _points.Add(id, (description, most, from));
        byte[] point = new byte[sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(point, id);
        return new BrowseResult { ContinuationPoint = point, References = [.. found] };
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
