using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary><see cref="ReadRequest"/>, encoded from the caller's list. For encoding only.</summary>
internal struct ReadNodesRequest : IServiceMessage
{
    public IReadOnlyList<NodeId> Nodes;
    public int From;
    public int Count;
    public AttributeId Attribute;

    /// <summary>For each node the part of its value; null for whole values.</summary>
    public IReadOnlyList<string?>? IndexRanges;

    public static ushort EncodingId => ReadRequest.EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        double maxAge = 0;
        TimestampsToReturn timestamps = TimestampsToReturn.Both;
        codec.Field(ref maxAge);
        codec.Enumeration(ref timestamps);
        codec.Field(ref Count);
        var item = new ReadValueId { AttributeId = (uint)Attribute };
        if (Nodes is NodeId[] array && IndexRanges is null)
        {
            foreach (ref readonly NodeId node in array.AsSpan(From, Count))
            {
                item.NodeId = node;
                codec.Structure(ref item);
            }

            return;
        }

        for (int i = 0; i < Count; i++)
        {
            (item.NodeId, item.IndexRange) = (Nodes[From + i], IndexRanges?[From + i]);
            codec.Structure(ref item);
        }
    }
}

/// <summary><see cref="ReadResponse"/>, decoded into the caller's memory.</summary>
internal struct ReadNodesResponse : IServiceMessage
{
    public Memory<DataValue> Results;

    /// <summary>The number of results; they were decoded if it is that of <see cref="Results"/>.</summary>
    public int Count;

    /// <summary>Whether the values of some results cannot be decoded.</summary>
    public bool HasUndecodable;

    public static ushort EncodingId => ReadResponse.EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Count);
        if (Count == Results.Length)
        {
            HasUndecodable = !codec.Values(Results.Span);
        }
    }
}

/// <summary><see cref="WriteRequest"/>, encoded from the caller's list. For encoding only.</summary>
internal struct WriteNodesRequest : IServiceMessage
{
    public IReadOnlyList<KeyValuePair<NodeId, Variant>> Values;
    public int From;
    public int Count;

    /// <summary>For each node the part of its value; null for whole values.</summary>
    public IReadOnlyList<string?>? IndexRanges;

    public static ushort EncodingId => WriteRequest.EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Count);
        var item = new WriteValue { AttributeId = (uint)AttributeId.Value };
        if (Values is KeyValuePair<NodeId, Variant>[] array && IndexRanges is null)
        {
            foreach (ref readonly KeyValuePair<NodeId, Variant> value in array.AsSpan(From, Count))
            {
                (item.NodeId, item.Value) = (value.Key, value.Value);
                codec.Structure(ref item);
            }

            return;
        }

        for (int i = 0; i < Count; i++)
        {
            (item.NodeId, item.IndexRange, item.Value) = (Values[From + i].Key, IndexRanges?[From + i], Values[From + i].Value);
            codec.Structure(ref item);
        }
    }
}

/// <summary><see cref="WriteResponse"/>, decoded into the caller's memory.</summary>
internal struct WriteNodesResponse : IServiceMessage
{
    public Memory<StatusCode> Results;

    /// <summary>The number of results; they were decoded if it is that of <see cref="Results"/>.</summary>
    public int Count;

    public static ushort EncodingId => WriteResponse.EncodingIdNumber;

    void IStructure.Code<T>(ref T codec)
    {
        codec.Field(ref Count);
        if (Count == Results.Length)
        {
            codec.Values(Results.Span);
        }
    }
}
