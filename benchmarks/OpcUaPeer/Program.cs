using System.CommandLine;
using FastPort;
using FastPort.OpcUa;
using OpcUaPeer;

try
{
    ParseResult parsed = PeerCommands.Create().Parse(args);
    int result = await parsed.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false });
    return parsed.Errors.Count > 0 ? 2 : result;
}
catch (Exception e) when (
    e is PeerException or IOException or ArgumentException or OpcUaException or EndpointException or RequestFailedException)
{
    await Console.Error.WriteLineAsync($"OpcUaPeer: {e.Message}");
    return 1;
}
