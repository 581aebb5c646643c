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
    case ["half-open", .. var settings]:
        await HalfOpenMode.RunAsync(settings);
        return 0;
    case ["start-stop", var rounds]:
        await StartStopMode.RunAsync(int.Parse(rounds, CultureInfo.InvariantCulture));
        return 0;
    default:
        await Console.Error.WriteLineAsync("Usage: FastPort.TestHost serve | scarce | half-open <setting>... | start-stop <rounds>");
        return 2;
}
