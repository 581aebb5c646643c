using FastPort.OpcUa;
using FastPort.OpcUa.Client;

// A tour of the server that FastPort.OpcBridge simulates: browse, read, write, call a method, watch a value.
string url = args.FirstOrDefault("opc.tcp://127.0.0.1:48400");
await using OpcUaClient client = await OpcUaClient.ConnectAsync(url);
NodeId Id(uint number) => client.Namespaces.MakeId("urn:fastport:simulation", number);

IReadOnlyList<ReferenceDescription> objects = await client.BrowseAsync(new NodeId(0, 85));
Console.WriteLine($"objects: {string.Join(", ", objects.Select(static reference => reference.BrowseName.Name))}");

DataValue[] values = await client.ReadAsync([Id(1007), Id(2400), Id(2807), Id(999)]);
Console.WriteLine($"read: {string.Join(", ", values.Select(static v => v.Status.IsGood ? $"{v.Value}" : $"{v.Status}"))}");

await client.CallAsync(Id(90_000), Id(90_001), [1_000_000u]);
MethodCallResult package = await client.CallAsync(Id(90_000), Id(90_002), []);
Console.WriteLine($"package: {package.Outputs[0].Get<ByteString>().Length} bytes");

await using OpcUaSubscription subscription = await client.SubscribeAsync(new() { PublishingInterval = TimeSpan.FromMilliseconds(100) });
await subscription.AddItemsAsync([new MonitoredItemOptions(Id(2000)) { SamplingInterval = TimeSpan.Zero, QueueSize = 10 }]);
DataChange first = await subscription.Changes.ReadAsync();
await client.WriteAsync([new(Id(2000), 20.5)]);
await client.WriteAsync([new(Id(2000), first.Value.Value)]);
Console.WriteLine($"watched: {first.Value.Value}, {(await NextAsync()).Value.Value}, {(await NextAsync()).Value.Value}");

ValueTask<DataChange> NextAsync() => subscription.Changes.ReadAsync();
