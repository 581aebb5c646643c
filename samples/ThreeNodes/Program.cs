using System.Runtime.InteropServices;
using ThreeNodes;
using ThreeNodes.Processes;

// Ctrl+C and a service manager end the demo like a failure: what it has started ends with it.
using var interrupted = new CancellationTokenSource();
using PosixSignalRegistration ctrlC = PosixSignalRegistration.Create(PosixSignal.SIGINT, Interrupt);
using PosixSignalRegistration term = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Interrupt);

try
{
    return await Demo.RunAsync(interrupted.Token) ? 0 : 1;
}
catch (OperationCanceledException) when (interrupted.IsCancellationRequested)
{
    Console.WriteLine("interrupted: everything that was started has ended");
    return 1;
}
catch (ChildFailedException e)
{
    Console.Error.WriteLine(e.Message);
    return 1;
}

void Interrupt(PosixSignalContext signal)
{
    signal.Cancel = true;
    interrupted.Cancel();
}
