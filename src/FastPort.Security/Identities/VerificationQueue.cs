using System.Net;

namespace FastPort.Security.Identities;

/// <summary>
/// Runs verifications of one kind on the thread pool: they cost up to some milliseconds of a core, which an event loop must not spend. Half
/// as many run at a time as there are processors, so that a flood of Hellos leaves the other processors to the messages. When more wait,
/// their addresses take turns: a guesser at one address delays those at other addresses by one verification each. Thread-safe.
/// </summary>
/// <param name="places">Verifications at a time. Defaults to half of the processors.</param>
internal sealed class VerificationQueue(int places)
{
    private readonly Lock _lock = new();

    // Guarded by the lock, as the two below it.
    private readonly Dictionary<string, Queue<TaskCompletionSource>> _waiting = new(StringComparer.Ordinal);

    // The addresses with waiting verifications, each once: the first is next.
    private readonly Queue<string> _turns = [];
    private int _free = places;

    public VerificationQueue()
        : this(Math.Max(1, Environment.ProcessorCount / 2))
    {
    }

    /// <summary>Runs a verification when there is a place.</summary>
    /// <param name="peer">Where the peer is; null and those without an address count as one.</param>
    /// <param name="verify">The verification.</param>
    /// <param name="cancellationToken">Canceled when the peer has gone, or its time is over.</param>
    public async Task<T> RunAsync<T>(EndPoint? peer, Func<Task<T>> verify, CancellationToken cancellationToken)
    {
        if (Enter(peer) is { } turn)
        {
            using CancellationTokenRegistration _ = cancellationToken.UnsafeRegister(
                static (turn, token) => ((TaskCompletionSource)turn!).TrySetCanceled(token), turn);
            await turn.Task.ConfigureAwait(false);
        }

        try
        {
            return await Task.Run(verify, cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            Leave();
        }
    }

    // Null if there is a place at once, which the caller then has.
    private TaskCompletionSource? Enter(EndPoint? peer)
    {
        string address = Ban.SubjectOf(peer) ?? string.Empty;
        lock (_lock)
        {
            if (_free > 0)
            {
                _free--;
                return null;
            }

            if (!_waiting.TryGetValue(address, out Queue<TaskCompletionSource>? line))
            {
                _waiting.Add(address, line = new Queue<TaskCompletionSource>());
                _turns.Enqueue(address);
            }

            var turn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            line.Enqueue(turn);
            return turn;
        }
    }

    // The place goes to the first of the address whose turn it is. Those that have gone are skipped.
    private void Leave()
    {
        lock (_lock)
        {
            while (_turns.TryDequeue(out string? address))
            {
                Queue<TaskCompletionSource> line = _waiting[address];
                bool isTaken = false;
                while (!isTaken && line.TryDequeue(out TaskCompletionSource? turn))
                {
                    isTaken = turn.TrySetResult();
                }

                if (line.Count != 0)
                {
                    _turns.Enqueue(address);
                }
                else
                {
                    _waiting.Remove(address);
                }

                if (isTaken)
                {
                    return;
                }
            }

            _free++;
        }
    }
}
