using System.CommandLine;
using FastPort.OpcBridge;
using FastPort.OpcBridge.Simulation;
using FastPort.Programs;
using FastPort.Programs.Hosting;

ConsoleOutput.ProtectErrors();
var listen = new Option<string[]>("--listen")
{
    Description =
        "Endpoint for FastPort clients instead of the configured ones, for example tcp://127.0.0.1:7000 or unix:///run/fastport.sock. "
        + "Port 0 lets the system choose. Can be given several times. [default: tcp://127.0.0.1:6629]",
    HelpName = "URI",
};
Option<string?> dashboard = DashboardOption.Create();
var transport = new TransportOptions();
var root = new RootCommand(
    "FastPort OPC UA bridge: FastPort clients read, write and subscribe to tags of OPC UA servers. Configured by section OpcBridge of "
    + "appsettings.json and environment variables; if no endpoint is configured, it bridges 2,000 simulated tags.")
{
    listen,
    dashboard,
    SimulateCommand.Create(SimulationProgram.RunAsync),
};
transport.AddTo(root);
root.SetAction((result, cancellationToken) =>
    BridgeProgram.RunAsync(
        result.GetValue(listen) ?? [], result.GetValue(dashboard), transport.Read(result), cancellationToken));

return await ProgramRun.InvokeAsync(root, args, Console.Error);
