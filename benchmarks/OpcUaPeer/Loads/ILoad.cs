namespace OpcUaPeer.Loads;

/// <summary>One kind of request, by several workers at a time.</summary>
internal interface ILoad
{
    /// <summary>Before all runs.</summary>
    Task PrepareAsync();

    /// <summary>A request of a worker, whose answer is checked.</summary>
    /// <exception cref="FastPortPeer.PeerException">The answer is wrong.</exception>
    ValueTask RequestAsync(int worker);

    /// <summary>After a run: checks what only then can be checked.</summary>
    /// <exception cref="FastPortPeer.PeerException">Something was wrong.</exception>
    Task CheckAsync();
}
