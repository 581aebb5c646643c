namespace FastPort.Security.Identities;

/// <summary>
/// Runs verifications on threads of its own: a password costs tens of milliseconds of a core, which an event loop must not spend, nor wait
/// for where it shares its core with them. Half as many run at a time as there are processors. Thread-safe.
/// </summary>
internal sealed class VerificationQueue : IDisposable
{
    /// <summary>Verifications at a time.</summary>
    public static readonly int Places = Math.Max(1, Environment.ProcessorCount / 2);

    private readonly SemaphoreSlim _places = new(Places);
    private readonly VerificationThreads _threads = new(Places);

    /// <summary>Runs a verification when there is a place.</summary>
    /// <param name="verify">The verification.</param>
    /// <param name="cancellationToken">The peer has gone, or its time is over.</param>
    public async Task<T> RunAsync<T>(Func<Task<T>> verify, CancellationToken cancellationToken)
    {
        await _places.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await Task.Factory.StartNew(verify, CancellationToken.None, TaskCreationOptions.DenyChildAttach, _threads).Unwrap()
                .ConfigureAwait(false);
        }
        finally
        {
            _places.Release();
        }
    }

    public void Dispose()
    {
        _places.Dispose();
        _threads.Dispose();
    }
}
