using System.Text.Json.Nodes;
using FastPort.Conformance.Adapter;

// Each line of the input is a command, each line of the output an event, both in JSON.
var gate = new Lock();
await using var adapter = new ClientAdapter(report =>
{
    lock (gate)
    {
        Console.Out.WriteLine(report.ToJsonString());
        Console.Out.Flush();
    }
});
while (Console.In.ReadLine() is { } line)
{
    adapter.Do(JsonNode.Parse(line)!.AsObject());
}
