using System.Runtime.InteropServices;

namespace FastPort.Client.Hosting;

/// <summary>
/// Ctrl+C and SIGTERM: the first one ends the run in order, with its report; the second ends the process as the system would.
/// </summary>
internal sealed class Interruption : IDisposable
{
    private readonly CancellationTokenSource _interrupted = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;
    private readonly Action? _atOnce;
    private int _signals;

    /// <param name="atOnce">Called by the second signal before the process ends; must not wait. Defaults to nothing.</param>
    public Interruption(Action? atOnce = null)
    {
        _atOnce = atOnce;
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
    }

    /// <summary>Cancelled by the first signal.</summary>
    public CancellationToken Token => _interrupted.Token;

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
        _interrupted.Dispose();
    }

    private void OnSignal(PosixSignalContext context)
    {
        if (Interlocked.Increment(ref _signals) == 1)
        {
            context.Cancel = true;

            // Cancelled on another thread: code that waits for the token would otherwise run on the thread that takes signals and delay the
            // second one.
            ThreadPool.UnsafeQueueUserWorkItem(static source => source.Cancel(), _interrupted, preferLocal: false);
        }
        else
        {
            _atOnce?.Invoke();
        }
    }
}
