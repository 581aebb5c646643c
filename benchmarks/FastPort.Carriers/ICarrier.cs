namespace FastPort.Carriers;

/// <summary>Carries batches of bytes from one node to another through an engine.</summary>
internal interface ICarrier : IAsyncDisposable
{
    /// <summary>Connects; from then on batches for this node arrive.</summary>
    /// <param name="node">The name of this node.</param>
    /// <param name="received">Gets each batch, one at a time and in order; valid until it returns.</param>
    Task StartAsync(string node, Action<ReadOnlyMemory<byte>> received);

    /// <summary>Sends a batch to a node. Completes when the next may be sent.</summary>
    ValueTask SendAsync(string node, byte[] batch);
}
