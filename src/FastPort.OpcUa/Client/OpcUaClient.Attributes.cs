using System.Runtime.CompilerServices;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Read and Write (OPC 10000-4, 5.11).</content>
public sealed partial class OpcUaClient
{
    private readonly Stack<PendingRequest<ReadNodesResponse>> _reads = [];
    private readonly Stack<PendingRequest<WriteNodesResponse>> _writes = [];
    private readonly Stack<PendingRequest<ReadResponse>> _pooledReads = [];

    /// <summary>Reads the values of nodes, with both timestamps.</summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A value for each node, in order; its status says whether it was read.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public ValueTask<DataValue[]> ReadAsync(IReadOnlyList<NodeId> nodes, CancellationToken cancellationToken = default) =>
        ReadAsync(nodes, AttributeId.Value, cancellationToken);

    /// <summary>
    /// Reads an attribute of nodes, with both timestamps. More nodes than the server reads at a time are read in several requests, and so
    /// are values that are too large for one response together. A single value that is too large has the status BadResponseTooLarge or
    /// BadEncodingLimitsExceeded; a value that cannot be decoded has BadDecodingError.
    /// </summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="attribute">The attribute.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A value for each node, in order; its status says whether it was read.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<DataValue[]> ReadAsync(
        IReadOnlyList<NodeId> nodes, AttributeId attribute, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        var values = new DataValue[nodes.Count];
        await ReadPartsAsync(nodes, attribute, null, values, cancellationToken).ConfigureAwait(false);
        return values;
    }

    /// <summary>
    /// As <see cref="ReadAsync(IReadOnlyList{NodeId}, CancellationToken)"/>, into the caller's memory: numbers are read without an
    /// allocation.
    /// </summary>
    /// <param name="nodes">The nodes; do not change them before the call has ended.</param>
    /// <param name="values">
    /// Receives a value for each node, in order. The client owns it until the call has ended; if the call fails, its contents are
    /// undefined.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="ArgumentException"><paramref name="values"/> and <paramref name="nodes"/> differ in length.</exception>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public ValueTask ReadAsync(IReadOnlyList<NodeId> nodes, Memory<DataValue> values, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        return values.Length == nodes.Count
            ? ReadPartsAsync(nodes, AttributeId.Value, null, values, cancellationToken)
            : throw new ArgumentException($"There are {nodes.Count} nodes and room for {values.Length} values.", nameof(values));
    }

    /// <summary>As <see cref="ReadAsync(IReadOnlyList{NodeId}, CancellationToken)"/>, for parts of arrays.</summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="indexRanges">For each node the part of its array, such as <c>2:5</c>; null for all of the value.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A value for each node, in order; BadIndexRangeNoData if its array has no such part.</returns>
    /// <exception cref="ArgumentException"><paramref name="indexRanges"/> and <paramref name="nodes"/> differ in length.</exception>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<DataValue[]> ReadAsync(
        IReadOnlyList<NodeId> nodes, IReadOnlyList<string?> indexRanges, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        CheckRanges(nodes.Count, indexRanges);
        var values = new DataValue[nodes.Count];
        await ReadPartsAsync(nodes, AttributeId.Value, indexRanges, values, cancellationToken).ConfigureAwait(false);
        return values;
    }

    /// <summary>
    /// As <see cref="ReadAsync(IReadOnlyList{NodeId}, CancellationToken)"/>, for large byte strings: they are not copied out of the
    /// received message. Always one request, regardless of the number of nodes.
    /// </summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The values. Dispose them: byte strings are valid until then.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<PooledResult<DataValue[]>> ReadPooledAsync(
        IReadOnlyList<NodeId> nodes, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        ServiceResult<ReadResponse> result = await InvokeAsync(
            new ReadNodesRequest { Nodes = nodes, Count = nodes.Count, Attribute = AttributeId.Value },
            _pooledReads,
            "Read",
            cancellationToken,
            new RequestTerms(BorrowsBytes: true)).ConfigureAwait(false);
        if (result.Response.Results is not { } values || values.Length != nodes.Count)
        {
            result.Owner?.Dispose();
            throw Failed("Read", StatusCodes.BadUnknownResponse);
        }

        return new PooledResult<DataValue[]>(values, result.Owner);
    }

    /// <summary>
    /// Writes the values of nodes. If they exceed the nodes or bytes that the server accepts in a request, they are written in several
    /// requests, one after the other. A value that is too large for a request has the status BadEncodingLimitsExceeded, or
    /// BadRequestTooLarge if the server returns that.
    /// </summary>
    /// <param name="values">The nodes and their values. Status and timestamps are not written.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A status for each node, in order.</returns>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<StatusCode[]> WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(values);
        var statuses = new StatusCode[values.Count];
        await WritePartsAsync(values, null, statuses, cancellationToken).ConfigureAwait(false);
        return statuses;
    }

    /// <summary>
    /// As <see cref="WriteAsync(IReadOnlyList{KeyValuePair{NodeId, Variant}}, CancellationToken)"/>, into the caller's memory, without an
    /// allocation.
    /// </summary>
    /// <param name="values">The nodes and their values; do not change them before the call has ended.</param>
    /// <param name="statuses">Receives a status for each node, in order. The client owns it until the call has ended.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="ArgumentException"><paramref name="statuses"/> and <paramref name="values"/> differ in length.</exception>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    public ValueTask WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, Memory<StatusCode> statuses, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(values);
        CheckRoom(values.Count, statuses);
        return WritePartsAsync(values, null, statuses, cancellationToken);
    }

    /// <summary>
    /// As <see cref="WriteAsync(IReadOnlyList{KeyValuePair{NodeId, Variant}}, CancellationToken)"/>, for parts of arrays.
    /// </summary>
    /// <param name="values">The nodes and their values.</param>
    /// <param name="indexRanges">For each node the part of its array, such as <c>2:5</c>; null for all of the value.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// A status for each node, in order; BadIndexRangeNoData if its array does not have all of the part, BadIndexRangeDataMismatch if the
    /// value and the part differ in size.
    /// </returns>
    /// <exception cref="ArgumentException"><paramref name="indexRanges"/> and <paramref name="values"/> differ in length.</exception>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    public async ValueTask<StatusCode[]> WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values,
        IReadOnlyList<string?> indexRanges,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(values);
        CheckRanges(values.Count, indexRanges);
        var statuses = new StatusCode[values.Count];
        await WritePartsAsync(values, indexRanges, statuses, cancellationToken).ConfigureAwait(false);
        return statuses;
    }

    /// <summary>
    /// As <see cref="WriteAsync(IReadOnlyList{KeyValuePair{NodeId, Variant}}, Memory{StatusCode}, CancellationToken)"/>, for parts of
    /// arrays.
    /// </summary>
    /// <param name="values">The nodes and their values; do not change them before the call has ended.</param>
    /// <param name="indexRanges">For each node the part of its array, such as <c>2:5</c>; null for all of the value.</param>
    /// <param name="statuses">
    /// Receives a status for each node, in order. The client owns it until the call has ended. If the call fails, it contains the statuses
    /// of earlier requests; the others are unchanged.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="ArgumentException">
    /// <paramref name="indexRanges"/> or <paramref name="statuses"/> differs in length from <paramref name="values"/>.
    /// </exception>
    /// <exception cref="OpcUaException">A request failed as a whole; earlier requests were executed.</exception>
    public ValueTask WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values,
        IReadOnlyList<string?> indexRanges,
        Memory<StatusCode> statuses,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(values);
        CheckRanges(values.Count, indexRanges);
        CheckRoom(values.Count, statuses);
        return WritePartsAsync(values, indexRanges, statuses, cancellationToken);
    }

    // Whether fewer values may be read: the server reports that its answer is too large, or its answer exceeds this side's limit, or cannot
    // be decoded. A single value may be the reason.
    private static bool IsAnswerUnreadable(OpcUaException e) =>
        !e.MayHaveExecuted
        && (e.Status == StatusCodes.BadEncodingLimitsExceeded || e.Status == StatusCodes.BadResponseTooLarge
            || e.Status == StatusCodes.BadDecodingError);

    private static bool IsTooLarge(OpcUaException e) =>
        !e.MayHaveExecuted && (e.Status == StatusCodes.BadEncodingLimitsExceeded || e.Status == StatusCodes.BadRequestTooLarge);

    private void TellUndecodable(IReadOnlyList<NodeId> nodes, Memory<DataValue> values, int from, int count)
    {
        int at = from;
        while (at < from + count - 1 && values.Span[at].Status != StatusCodes.BadDecodingError)
        {
            at++;
        }

        TellUndecodable($"{nodes[at]}");
    }

    private static void CheckRoom(int count, Memory<StatusCode> statuses)
    {
        if (statuses.Length != count)
        {
            throw new ArgumentException($"There are {count} nodes and room for {statuses.Length} statuses.", nameof(statuses));
        }
    }

    private static void CheckRanges(int count, IReadOnlyList<string?> indexRanges)
    {
        ArgumentNullException.ThrowIfNull(indexRanges);
        if (indexRanges.Count != count)
        {
            throw new ArgumentException($"There are {count} nodes and {indexRanges.Count} index ranges.", nameof(indexRanges));
        }
    }

    // One request after the other. One is enough unless the server limits it, or the values are too large for one response or cannot be
    // decoded: then they are read in several, down to one value each.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask ReadPartsAsync(
        IReadOnlyList<NodeId> nodes,
        AttributeId attribute,
        IReadOnlyList<string?>? indexRanges,
        Memory<DataValue> values,
        CancellationToken cancellationToken)
    {
        NamespaceTable namespaces = Namespaces;
        int from = 0;
        int most = int.MaxValue;
        do
        {
            OperationLimits limits = await LimitsAsync("Read", cancellationToken).ConfigureAwait(false);
            int count = Math.Min(Math.Min(most, limits[Bulk.Read]), values.Length - from);
            try
            {
                ServiceResult<ReadNodesResponse> result = await InvokeAsync(
                    new ReadNodesRequest { Nodes = nodes, From = from, Count = count, Attribute = attribute, IndexRanges = indexRanges },
                    _reads,
                    "Read",
                    cancellationToken,
                    into: new ReadNodesResponse { Results = values.Slice(from, count) },
                    namespaces: namespaces).ConfigureAwait(false);
                if (result.Response.Count != count)
                {
                    throw Failed("Read", StatusCodes.BadUnknownResponse);
                }

                if (result.Response.HasUndecodable)
                {
                    TellUndecodable(nodes, values, from, count);
                }
            }
            catch (OpcUaException e) when (limits.TryLower(Bulk.Read, count, e.Status))
            {
                continue;
            }
            catch (OpcUaException e) when (count > 0 && IsAnswerUnreadable(e))
            {
                if (count > 1)
                {
                    most = count / 2;
                    continue;
                }

                values.Span[from] = new DataValue(Variant.Null, e.Status);
                if (e.Status == StatusCodes.BadDecodingError)
                {
                    TellUndecodable($"{nodes[from]}");
                }
            }

            from += count;
            most = (int)Math.Min(2L * count, int.MaxValue);
        }
        while (from < values.Length);
    }

    // Values that are too large for one request are sent in several, until a single value is too large. Such a request had no effect: it
    // was not sent, or the server reports that it did not accept it.
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WritePartsAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values,
        IReadOnlyList<string?>? indexRanges,
        Memory<StatusCode> statuses,
        CancellationToken cancellationToken)
    {
        NamespaceTable namespaces = Namespaces;
        int from = 0;
        int most = int.MaxValue;
        do
        {
            OperationLimits limits = await LimitsAsync("Write", cancellationToken).ConfigureAwait(false);
            int count = Math.Min(Math.Min(most, limits[Bulk.Write]), statuses.Length - from);
            try
            {
                ServiceResult<WriteNodesResponse> result = await InvokeAsync(
                    new WriteNodesRequest { Values = values, From = from, Count = count, IndexRanges = indexRanges },
                    _writes,
                    "Write",
                    cancellationToken,
                    into: new WriteNodesResponse { Results = statuses.Slice(from, count) },
                    namespaces: namespaces).ConfigureAwait(false);
                if (result.Response.Count != count)
                {
                    throw Failed("Write", StatusCodes.BadUnknownResponse, RequestFate.Unanswered);
                }
            }
            catch (OpcUaException e) when (!e.MayHaveExecuted && limits.TryLower(Bulk.Write, count, e.Status))
            {
                continue;
            }
            catch (OpcUaException e) when (count > 0 && IsTooLarge(e))
            {
                if (count > 1)
                {
                    most = count / 2;
                    continue;
                }

                statuses.Span[from] = e.Status;
            }

            from += count;
            most = (int)Math.Min(2L * count, int.MaxValue);
        }
        while (from < statuses.Length);
    }
}
