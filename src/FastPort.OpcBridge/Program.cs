using System.CommandLine;
using FastPort.OpcBridge.Simulation;
using FastPort.Programs;

var root = new RootCommand("FastPort OPC UA bridge.") { SimulateCommand.Create(SimulationProgram.RunAsync) };

return await ProgramRun.InvokeAsync(root, args, Console.Error);
