using System.Text.Json.Nodes;
using FastPort.Conformance.Adapter;

// A line of JSON for each command on the input, and for each event on the output.
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
