using System.CommandLine;
using FastPort.Programs;
using FastPort.Programs.Hosting;
using FastPort.Server;
using FastPort.Server.Commands;
using FastPort.Transports.Sockets;

// Safe here: no code of this process blocks a socket's thread. The diagnostics handlers do not block or are queued.
SocketTransport.UnsafeUseInlineCompletions();

ConsoleOutput.ProtectErrors();
var listen = new Option<string[]>("--listen")
{
    Description =
        "Endpoint to listen on instead of the configured ones, for example tcp://127.0.0.1:7000 or unix:///run/fastport.sock. Port 0 "
        + "lets the system choose. Can be given several times.",
    HelpName = "URI",
};
var queuedEcho = new Option<bool>("--queued-echo")
{
    Description = "Also answer message type 0x1001 as Echo does, but through a queued handler (for measurements).",
};
Option<string?> dashboard = DashboardOption.Create();
var transport = new TransportOptions();
var root = new RootCommand(
    "FastPort server: Echo, Sink and Source over framed Protocol Buffers messages. Configured by appsettings.json and environment "
    + "variables.")
{
    listen,
    queuedEcho,
    dashboard,
};
transport.AddTo(root);
SecurityCommands.AddTo(root);
BanCommands.AddTo(root);
CertificateCommands.AddTo(root);
root.SetAction((result, cancellationToken) =>
    ServerProgram.RunAsync(
        result.GetValue(listen) ?? [],
        result.GetValue(queuedEcho),
        result.GetValue(dashboard),
        transport.Read(result),
        cancellationToken));

return await ProgramRun.InvokeAsync(root, args, Console.Error);
