namespace FastPort.OpcUa.Server;

/// <summary>A value that a client writes.</summary>
/// <param name="Variable">The variable.</param>
/// <param name="Value">
/// The value, of the variable's type, with its status. The source timestamp is the client's, or else the time of the request.
/// </param>
public readonly record struct VariableWrite(VariableNode Variable, DataValue Value);

/// <summary>
/// Handles the values that clients write to variables, instead of storing them: for example, to forward them to a device. A variable's
/// value is then only what its owner sets. The values of one request for the same handler come in one call, in order. Begins on the loop of
/// the client's connection, in the order of the client's requests, so it must not block; it may return a task that completes later, and
/// later calls may begin in the meantime. An exception is logged, and the client gets BadInternalError.
/// </summary>
/// <param name="writes">The values.</param>
/// <param name="statuses">Receives the status of each value for the client, in order. All are Good at first.</param>
/// <param name="cancellationToken">Canceled when the client's connection ends, or the client cancels the request.</param>
public delegate ValueTask VariableWriteHandler(
    ReadOnlyMemory<VariableWrite> writes, Memory<StatusCode> statuses, CancellationToken cancellationToken);
