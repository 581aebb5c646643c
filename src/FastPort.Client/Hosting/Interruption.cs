using System.Runtime.InteropServices;

namespace FastPort.Client.Hosting;

/// <summary>
/// Ctrl+C and SIGTERM: the first signal ends the run in order, with its report; the second has the system's default effect and ends the
/// process.
/// </summary>
internal sealed class Interruption : IDisposable
{
    private readonly CancellationTokenSource _interrupted = new();
    private readonly PosixSignalRegistration _interrupt;
    private readonly PosixSignalRegistration _terminate;
    private readonly Action? _atOnce;
    private int _signals;

    /// <param name="atOnce">Called at the second signal, before the process ends; must not block. Defaults to null: no call.</param>
    public Interruption(Action? atOnce = null)
    {
        _atOnce = atOnce;
        _interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, OnSignal);
        _terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, OnSignal);
    }

    /// <summary>Canceled by the first signal.</summary>
    public CancellationToken Token => _interrupted.Token;

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();

        // The source is not disposed: another thread may still be handling an earlier signal.
    }

    private void OnSignal(PosixSignalContext context)
    {
        if (Interlocked.Increment(ref _signals) == 1)
        {
            context.Cancel = true;

            // Cancel on another thread: callbacks of the token would otherwise run on the signal thread and delay the second signal.
            ThreadPool.UnsafeQueueUserWorkItem(static source => source.Cancel(), _interrupted, preferLocal: false);
        }
        else
        {
            _atOnce?.Invoke();
        }
    }
}
