using System.Collections;
using System.Collections.Concurrent;
using FastPort.OpcUa;

namespace FastPort.Tags.OpcUa.Sources;

/// <content>Read, Write, Call and feeds.</content>
internal sealed partial class OpcUaTagSource
{
    // No server answers with this.
    private static readonly StatusCode Unanswered = new(uint.MaxValue);

    private readonly ConcurrentBag<ReadBuffer> _buffers = [];

    public async ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
    {
        if (_link is not { } link || _connected is not { Nodes: { } nodes })
        {
            return TagStatus.BadNoCommunication;
        }

        if (OpcUaParts.HasAny(tags))
        {
            return await ReadPartsAsync(link, nodes, tags, samples, cancellationToken).ConfigureAwait(false);
        }

        if (!_buffers.TryTake(out ReadBuffer? buffer))
        {
            buffer = new ReadBuffer();
        }

        Memory<DataValue> values = buffer.Begin(tags, nodes);
        try
        {
            await link.ReadAsync(buffer, AttributeId.Value, null, values, cancellationToken).ConfigureAwait(false);
        }
        catch (OpcUaException e)
        {
            // The buffer is not reused: an answer may still be written to it.
            return ReadFailure(e);
        }

        foreach (ref readonly DataValue value in values.Span)
        {
            TagValues.Add(samples, value);
        }

        _buffers.Add(buffer);
        return TagStatus.Good;
    }

    public async ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        if (_link is not { } link || _connected is not { Nodes: { } nodes })
        {
            return TagStatus.BadNoCommunication;
        }

        List<KeyValuePair<NodeId, Variant>> writes = new(tags.Count);
        List<string?> ranges = new(tags.Count);
        List<int> rows = new(tags.Count);
        for (int i = 0; i < tags.Count; i++)
        {
            if (TagValues.TryToVariant(values.GetValue(i), out Variant variant))
            {
                OpcUaPart part = _parts.Find(tags[i]);
                writes.Add(new(nodes[part.Tag], variant));
                ranges.Add(part.Range);
                rows.Add(i);
            }
            else
            {
                statuses.Span[i] = TagStatus.BadTypeMismatch;
            }
        }

        if (writes.Count == 0)
        {
            return TagStatus.Good;
        }

        var results = new StatusCode[writes.Count];
        Array.Fill(results, Unanswered);
        TagStatus failure = TagStatus.Good;
        try
        {
            await link.WriteAsync(writes, ranges, results, cancellationToken).ConfigureAwait(false);
        }
        catch (OpcUaException e)
        {
            failure = Failure(e);
            if (results[0] == Unanswered)
            {
                return failure;
            }
        }

        // More values than the server accepts at a time are sent in several requests: those before the failed one were answered.
        for (int i = 0; i < results.Length; i++)
        {
            statuses.Span[rows[i]] = results[i] == Unanswered ? failure : new TagStatus(results[i].Value);
        }

        return TagStatus.Good;
    }

    public async ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken)
    {
        if (!_tags.Methods.TryGetValue(method, out OpcUaMethod? called))
        {
            return TagStatus.BadMethodInvalid;
        }

        if (!_options.AllowWrite)
        {
            return TagStatus.BadUserAccessDenied;
        }

        var arguments = new Variant[inputs.Count];
        for (int i = 0; i < arguments.Length; i++)
        {
            if (!TagValues.TryToVariant(inputs.GetValue(i), out arguments[i]))
            {
                return TagStatus.BadInvalidArgument;
            }
        }

        try
        {
            IOpcUaLink link = _link!;
            (StatusCode status, IReadOnlyList<Variant> results) = await link.CallAsync(
                link.Namespaces.MakeId(called.Object), link.Namespaces.MakeId(called.Method), arguments, cancellationToken)
                .ConfigureAwait(false);
            foreach (Variant result in results)
            {
                outputs.Add(TagValues.ToTagValue(result));
            }

            return new TagStatus(status.Value);
        }
        catch (OpcUaException e)
        {
            return Failure(e);
        }
    }

    public async ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken)
    {
        IOpcUaLink link = _link ?? throw new TagException(TagStatus.BadNoCommunication, $"Endpoint {Name} has never been connected.");
        try
        {
            IOpcUaFeed feed = await link.OpenFeedAsync(this, interval, listener, cancellationToken).ConfigureAwait(false);
            _feeds[feed] = true;
            return feed;
        }
        catch (OpcUaException e)
        {
            throw new TagException(Failure(e), e.Message);
        }
    }

    /// <summary>The tags while their node ids are valid in the current session; null otherwise, or without a session.</summary>
    public OpcUaTags? Connected => _connected;

    /// <summary>The tags with their last known node ids.</summary>
    public OpcUaTags Known => _tags;

    /// <summary>A feed is closed.</summary>
    public void Forget(IOpcUaFeed feed) => _feeds.TryRemove(feed, out _);

    /// <summary>Parts of arrays, which are tags too.</summary>
    public OpcUaParts Parts => _parts;

    /// <summary>The status of a request that failed as a whole: a request that was sent and not answered may have been executed.</summary>
    public TagStatus Failure(OpcUaException e) =>
        e.MayHaveExecuted ? TagStatus.BadTimeout : IsConnected ? new TagStatus(e.Status.Value) : TagStatus.BadNoCommunication;

    private async ValueTask<TagStatus> ReadPartsAsync(
        IOpcUaLink link, IReadOnlyList<NodeId> nodes, IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
    {
        OpcUaPart[] parts = [.. tags.Select(_parts.Find)];
        var values = new DataValue[parts.Length];
        try
        {
            await link.ReadAsync(
                Array.ConvertAll(parts, part => nodes[part.Tag]),
                AttributeId.Value,
                Array.ConvertAll(parts, static part => part.Range),
                values,
                cancellationToken).ConfigureAwait(false);
            foreach (ref readonly DataValue value in values.AsSpan())
            {
                TagValues.Add(samples, value);
            }

            return TagStatus.Good;
        }
        catch (OpcUaException e)
        {
            return ReadFailure(e);
        }
    }

    // A read whose connection has ended has no effect.
    private TagStatus ReadFailure(OpcUaException e) =>
        e.MayHaveExecuted && e.Status != StatusCodes.BadTimeout ? TagStatus.BadNoCommunication : Failure(e);

    // The nodes of tags without a copy of their ids, and room for their values; used again.
    private sealed class ReadBuffer : IReadOnlyList<NodeId>
    {
        private IReadOnlyList<int> _tags = [];
        private IReadOnlyList<NodeId> _nodes = [];
        private DataValue[] _values = [];

        public int Count => _tags.Count;

        public NodeId this[int index] => _nodes[_tags[index]];

        public Memory<DataValue> Begin(IReadOnlyList<int> tags, IReadOnlyList<NodeId> nodes)
        {
            _tags = tags;
            _nodes = nodes;
            if (_values.Length < tags.Count)
            {
                _values = new DataValue[tags.Count];
            }

            return _values.AsMemory(0, tags.Count);
        }

        public IEnumerator<NodeId> GetEnumerator() => _tags.Select(tag => _nodes[tag]).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }
}
