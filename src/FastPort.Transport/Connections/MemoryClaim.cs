namespace FastPort.Connections;

/// <summary>A server, whose connections hold memory of a <see cref="MemoryBudget"/>.</summary>
internal interface IMemoryHolder
{
    /// <summary>The server's connections that would release memory if they were closed. Safe from any thread.</summary>
    IEnumerable<MemoryClaim> Claims { get; }
}

/// <summary>The memory of a <see cref="MemoryBudget"/> that one connection holds.</summary>
/// <param name="Bytes">Bytes that the connection's end releases, above 0.</param>
/// <param name="IsKnown">Whether the connection's peer is known; such connections are closed last.</param>
/// <param name="OwedMilliseconds">
/// How long, in milliseconds, the peer has been late with the rest of a message or with reading sent bytes.
/// </param>
/// <param name="Close">Begins to close the connection.</param>
/// <param name="Closed">Completes when the connection has ended.</param>
internal readonly record struct MemoryClaim(long Bytes, bool IsKnown, long OwedMilliseconds, Action Close, Task Closed);
