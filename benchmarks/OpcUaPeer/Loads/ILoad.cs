namespace OpcUaPeer.Loads;

/// <summary>One kind of request, by several workers at a time, with the clients that send it.</summary>
internal interface ILoad : IAsyncDisposable
{
    /// <summary>A request of a worker, whose answer is checked.</summary>
    /// <exception cref="PeerException">The answer is wrong.</exception>
    ValueTask RequestAsync(int worker);

    /// <summary>After a run: checks what only then can be checked.</summary>
    /// <exception cref="PeerException">Something was wrong.</exception>
    Task CheckAsync();

    /// <summary>Bytes that the server has allocated; null if it does not tell.</summary>
    Task<long?> ServerAllocatedAsync();
}
