namespace FastPort.Security.Identities;

/// <summary>
/// Runs verifications on the thread pool: they cost up to some milliseconds of a core, which an event loop must not spend. Half as many run
/// at a time as there are processors, so that a flood of Hellos leaves the others to the messages. Thread-safe.
/// </summary>
internal sealed class VerificationQueue : IDisposable
{
    private readonly SemaphoreSlim _places = new(Math.Max(1, Environment.ProcessorCount / 2));

    /// <summary>Runs a verification when there is a place.</summary>
    /// <param name="verify">The verification.</param>
    /// <param name="cancellationToken">The peer has gone, or its time is over.</param>
    public async Task<T> RunAsync<T>(Func<Task<T>> verify, CancellationToken cancellationToken)
    {
        await _places.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await Task.Run(verify, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            _places.Release();
        }
    }

    public void Dispose() => _places.Dispose();
}
