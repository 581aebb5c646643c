using System.Globalization;
using FastPort.Carriers;

// The program is the node that sends; it starts itself once more, with two arguments, as the node that acknowledges.
if (args.Length is not (2 or 5) || Carriers.Find(args[0]) is not { } create)
{
    Console.Error.WriteLine(
        $"""
        usage: CARRIER ENGINE BYTES SECONDS IN-FLIGHT|RATE/s
        CARRIER is one of {string.Join(", ", Carriers.Names)}; ENGINE is HOST:PORT, for rabbit amqp://USER:PASSWORD@HOST:PORT, for orleans
        the address of the first silo. Prints a row: carrier, bytes, load, messages/s, p50 and p99 in us, messages a batch, sent, not
        acknowledged within 5 s of the end, acknowledged twice, and the longest time in ms without an acknowledgement.
        """);
    return 2;
}

bool isBatched = Carriers.IsBatched(args[0]);
await using ICarrier carrier = create(args[1]);
if (args.Length == 2)
{
    await AcknowledgingNode.RunAsync(carrier, isBatched);
    return 0;
}

int size = int.Parse(args[2], CultureInfo.InvariantCulture);
double seconds = double.Parse(args[3], CultureInfo.InvariantCulture);
var node = new SendingNode(carrier, isBatched, size, Load.Parse(args[4]));
if (await node.RunAsync(args[..2], TimeSpan.FromSeconds(seconds)) is not { } result)
{
    Console.Error.WriteLine("Node b ended before it was ready.");
    return 1;
}

Console.WriteLine($"| {args[0]} | {size} | {args[4]} | {result} |");
return 0;
