using FastPort.Client.Commands;
using FastPort.Programs;

ConsoleOutput.ProtectErrors();
return await CommandLine.RunAsync(args, new ClientCommands(), Console.Error);
