using FastPort.Client.Commands;

return await CommandLine.RunAsync(args, new ClientCommands(), Console.Error);
