using System.CommandLine;
using ServicePeer;

try
{
    ParseResult parsed = PeerCommands.Create().Parse(args);
    int result = await parsed.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
    return parsed.Errors.Count > 0 ? 2 : result;
}
catch (Exception e) when (e is PeerException or IOException)
{
    await Console.Error.WriteLineAsync($"ServicePeer: {e.Message}");
    return 1;
}
