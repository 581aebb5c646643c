namespace OpcUaPeer.Loads;

/// <summary>Whom the load is for: a connection.</summary>
internal interface ILoadTarget : IAsyncDisposable
{
    /// <summary>What is asked.</summary>
    ILoad Load { get; }

    /// <summary>Bytes that the server has allocated until now; null if it does not tell.</summary>
    ValueTask<long?> ServerAllocatedAsync();
}
