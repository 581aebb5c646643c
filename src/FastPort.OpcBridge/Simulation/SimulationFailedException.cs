using FastPort.Programs;

namespace FastPort.OpcBridge.Simulation;

/// <summary>The simulation cannot start.</summary>
internal sealed class SimulationFailedException(string message, int exitCode, Exception? inner = null)
    : ProgramFailedException(message, exitCode, inner);
