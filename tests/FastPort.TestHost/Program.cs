using System.Globalization;
using FastPort.TestHost;

switch (args)
{
    case ["serve"]:
        await ServeMode.RunAsync();
        return 0;
    case ["scarce"]:
        await ScarceMode.RunAsync();
        return 0;
    case ["start-stop", var rounds]:
        await StartStopMode.RunAsync(int.Parse(rounds, CultureInfo.InvariantCulture));
        return 0;
    default:
        await Console.Error.WriteLineAsync("Usage: FastPort.TestHost serve | scarce | start-stop <rounds>");
        return 2;
}
