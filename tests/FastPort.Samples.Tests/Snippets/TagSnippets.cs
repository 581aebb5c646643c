using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.Protocol.Tags;
using FastPort.Protocol.Tags.Clients;
using FastPort.Protocol.Tags.Serving;
using FastPort.Protocol.Tags.Sources;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>Code shown in docs/bridge.md.</summary>
internal static class TagSnippets
{
    // docs: serve
    public static async Task<FastPortServer> ServeAsync(ITagSource source)
    {
        var tags = new TagServer([source]);

        // A session's requests that wait for the source do not hold up its others.
        var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" }, Session = { MaxConcurrency = 64 } };
        var server = new FastPortServer(options, new MessageHandlers().MapTags(tags));
        await server.StartAsync();
        return server;
    }

    // docs: end

    // docs: use
    public static async Task UseAsync(TagClient client, string speed, string level)
    {
        // One tag.
        TagSample sample = await client.ReadAsync(speed);
        Console.WriteLine($"{sample.Value.Get<double>()} {sample.Status} {sample.SourceTime:O}");
        TagStatus written = await client.WriteAsync(speed, 1200.0);
        Console.WriteLine(written);

        // Many tags: resolved once, read into the same columns again and again.
        TagList tags = await client.ResolveAsync([speed, level]);
        var samples = new TagSamples();
        await client.ReadAsync(tags, samples, maxAge: TimeSpan.FromMilliseconds(200));
        for (int i = 0; i < samples.Count; i++)
        {
            Console.WriteLine(samples.TryGet(i, out double value) ? $"{tags.Names[i]} {value}" : $"{tags.Names[i]} {samples.GetStatus(i)}");
        }
    }

    // docs: end

    // docs: watch
    public static async Task<TagChange> WatchAsync(TagClient client, string name, Predicate<TagSample> until)
    {
        TagList tags = await client.ResolveAsync([name]);
        await using TagSubscription subscription = await client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(100) });
        await foreach (TagChange change in subscription)
        {
            Console.WriteLine($"{change.Name}: {change.Sample}");
            if (until(change.Sample))
            {
                return change;
            }
        }

        throw new InvalidOperationException("The client was closed.");
    }

    // docs: end
}
