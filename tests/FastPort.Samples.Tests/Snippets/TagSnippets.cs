using FastPort.Tags;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>Code shown in docs/tags.md and docs/tag-sources.md.</summary>
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

    // docs: host
    public static void AddTags(IServiceCollection services, IConfiguration configuration)
    {
        services.AddSingleton<ITagSource, ProcessTagSource>();
        services.AddSingleton(provider => new TagServer(provider.GetServices<ITagSource>()));
        services.AddFastPort(configuration).MapTags();
    }

    // docs: end

    // docs: bridge
    public static IHost Bridge(string[] args)
    {
        HostApplicationBuilder builder = Host.CreateApplicationBuilder(args);
        builder.Services.AddOpcUaTags(builder.Configuration);
        builder.Services.AddFastPort(builder.Configuration).MapTags();
        return builder.Build();
    }

    // docs: end

    // docs: use
    public static async Task UseAsync(ITagClient client, string speed, string level)
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

    // docs: publish
    public static async Task PublishAsync(string bridge, CancellationToken cancellationToken)
    {
        var press = new MemoryTagSource();
        press.Add("press/speed", 0.0);
        press.Add("press/limit", 90.0, isWritable: true);
        press.Written += (name, value) => Console.WriteLine($"{name} is {value} now");

        await using TagClient client = await TagClient.ConnectAsync(
            new FastPortClientOptions { Endpoint = bridge, RoutingId = "press-4" }, cancellationToken: cancellationToken);
        await using TagPublication publication = await client.PublishAsync(press, cancellationToken: cancellationToken);
        for (double speed = 0; !cancellationToken.IsCancellationRequested; speed++)
        {
            press.Set("press/speed", speed % 90);
            await Task.Delay(100, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    // docs: end

    // docs: watch
    public static async Task<TagChange> WatchAsync(ITagClient client, string name, Predicate<TagSample> until)
    {
        TagList tags = await client.ResolveAsync([name]);
        await using ITagSubscription subscription = await client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(100) });
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
