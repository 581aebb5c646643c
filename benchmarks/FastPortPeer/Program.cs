using System.CommandLine;
using FastPort;
using FastPortPeer;

try
{
    RootCommand root = PeerCommands.Create();
    ParseResult parsed = root.Parse(args);
    int result = await parsed.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
    return parsed.Errors.Count > 0 ? 2 : result;
}
catch (Exception e) when (e is PeerException or IOException or ArgumentException or RequestFailedException)
{
    await Console.Error.WriteLineAsync($"FastPortPeer: {e.Message}");
    return 1;
}
