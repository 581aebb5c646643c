using System.CommandLine;
using FastPort.OpcBridge.Simulation;
using FastPort.Programs;

var listen = new Option<string[]>("--listen")
{
    Description = "Endpoint to listen on. Port 0 lets the system choose. Can be given several times.",
    HelpName = "URI",
    DefaultValueFactory = static _ => ["opc.tcp://127.0.0.1:48400"],
};
Option<int> changeRate = WholeNumberOption.Create(
    "--change-rate", "How many values change in a second.", "N", defaultValue: 0, minimum: 0, maximum: 10_000_000);
var simulate = new Command("simulate", "Serves 2,000 simulated variables and a package method over OPC UA, until Ctrl+C or SIGTERM.")
{
    listen,
    changeRate,
};
simulate.SetAction((result, cancellationToken) =>
    SimulationProgram.RunAsync(result.GetValue(listen)!, result.GetValue(changeRate), cancellationToken));
var root = new RootCommand("FastPort OPC UA bridge.") { simulate };

return await ProgramRun.InvokeAsync(root, args, Console.Error);
