namespace FastPort.Carriers;

/// <summary>Node b: what has arrived is acknowledged, all of a batch together.</summary>
internal static class AcknowledgingNode
{
    public const string Ready = "ready";

    /// <summary>Runs until its input has a line or ends.</summary>
    public static async Task RunAsync(ICarrier carrier, bool isBatched)
    {
        var outbox = new Outbox(carrier, "a", isBatched);
        _ = outbox.RunAsync();
        await carrier.StartAsync("b", batch =>
        {
            for (ReadOnlySpan<byte> left = batch.Span; !left.IsEmpty;)
            {
                outbox.Add(Batch.Next(ref left)[..Batch.NumberBytes].ToArray());
            }

            outbox.Flush();
        });
        Console.WriteLine(Ready);
        await Console.In.ReadLineAsync();
    }
}
