using System.Runtime.CompilerServices;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <content>Read and Write (OPC 10000-4, 5.11).</content>
public sealed partial class OpcUaClient
{
    private readonly Stack<PendingRequest<ReadResponse>> _reads = [];
    private readonly Stack<PendingRequest<WriteResponse>> _writes = [];

    private OperationLimits Limits => _slot.Current?.Limits ?? OperationLimits.None;

    /// <summary>Reads the values of nodes, with both timestamps.</summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A value for each node, in order; its status says whether it was read.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public ValueTask<DataValue[]> ReadAsync(IReadOnlyList<NodeId> nodes, CancellationToken cancellationToken = default) =>
        ReadAsync(nodes, AttributeId.Value, cancellationToken);

    /// <summary>
    /// Reads an attribute of nodes, with both timestamps. More nodes than the server reads at a time are read in several requests.
    /// </summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="attribute">The attribute.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A value for each node, in order; its status says whether it was read.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public ValueTask<DataValue[]> ReadAsync(
        IReadOnlyList<NodeId> nodes, AttributeId attribute, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        return nodes.Count <= Limits.MaxNodesPerRead
            ? ReadPartAsync(nodes, 0, nodes.Count, attribute, cancellationToken)
            : ReadPartsAsync(nodes, Limits.MaxNodesPerRead, attribute, cancellationToken);
    }

    /// <summary>
    /// As <see cref="ReadAsync(IReadOnlyList{NodeId}, CancellationToken)"/>, for large byte strings: they are not copied out of the
    /// received message. One request, whatever the number of nodes.
    /// </summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>The values. Dispose them: byte strings are valid until then.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<PooledResult<DataValue[]>> ReadPooledAsync(
        IReadOnlyList<NodeId> nodes, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        ServiceResult<ReadResponse> result = await InvokeAsync(
            ReadRequestOf(nodes, 0, nodes.Count, AttributeId.Value),
            _reads,
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
    /// Writes the values of nodes. More nodes than the server writes at a time are written in several requests, one after the other.
    /// </summary>
    /// <param name="values">The nodes and their values. Status and timestamps are not written.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A status for each node, in order.</returns>
    /// <exception cref="OpcUaException">A request failed as a whole; those before it were written.</exception>
    public ValueTask<StatusCode[]> WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(values);
        return values.Count <= Limits.MaxNodesPerWrite
            ? WritePartAsync(values, 0, values.Count, cancellationToken)
            : WritePartsAsync(values, Limits.MaxNodesPerWrite, cancellationToken);
    }

    private static ReadRequest ReadRequestOf(IReadOnlyList<NodeId> nodes, int from, int count, AttributeId attribute)
    {
        var items = new ReadValueId[count];
        for (int i = 0; i < items.Length; i++)
        {
            items[i].NodeId = nodes[from + i];
            items[i].AttributeId = (uint)attribute;
        }

        return new ReadRequest { TimestampsToReturn = TimestampsToReturn.Both, NodesToRead = items };
    }

    private async ValueTask<DataValue[]> ReadPartsAsync(
        IReadOnlyList<NodeId> nodes, int perRequest, AttributeId attribute, CancellationToken cancellationToken)
    {
        var values = new DataValue[nodes.Count];
        for (int from = 0; from < values.Length; from += perRequest)
        {
            int count = Math.Min(perRequest, values.Length - from);
            DataValue[] part = await ReadPartAsync(nodes, from, count, attribute, cancellationToken).ConfigureAwait(false);
            part.CopyTo(values, from);
        }

        return values;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<DataValue[]> ReadPartAsync(
        IReadOnlyList<NodeId> nodes, int from, int count, AttributeId attribute, CancellationToken cancellationToken)
    {
        ServiceResult<ReadResponse> result = await InvokeAsync(
            ReadRequestOf(nodes, from, count, attribute), _reads, "Read", cancellationToken).ConfigureAwait(false);
        return result.Response.Results is { } values && values.Length == count
            ? values
            : throw Failed("Read", StatusCodes.BadUnknownResponse);
    }

    private async ValueTask<StatusCode[]> WritePartsAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, int perRequest, CancellationToken cancellationToken)
    {
        var statuses = new StatusCode[values.Count];
        for (int from = 0; from < statuses.Length; from += perRequest)
        {
            int count = Math.Min(perRequest, statuses.Length - from);
            StatusCode[] part = await WritePartAsync(values, from, count, cancellationToken).ConfigureAwait(false);
            part.CopyTo(statuses, from);
        }

        return statuses;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<StatusCode[]> WritePartAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, int from, int count, CancellationToken cancellationToken)
    {
        var items = new WriteValue[count];
        for (int i = 0; i < items.Length; i++)
        {
            items[i].NodeId = values[from + i].Key;
            items[i].AttributeId = (uint)AttributeId.Value;
            items[i].Value = values[from + i].Value;
        }

        ServiceResult<WriteResponse> result = await InvokeAsync(
            new WriteRequest { NodesToWrite = items }, _writes, "Write", cancellationToken).ConfigureAwait(false);
        return result.Response.Results is { } statuses && statuses.Length == count
            ? statuses
            : throw Failed("Write", StatusCodes.BadUnknownResponse);
    }
}
