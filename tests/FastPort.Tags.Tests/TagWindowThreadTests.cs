using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>What the thread of a window waits for, such as in its Closing event, does not need that thread.</summary>
public sealed class TagWindowThreadTests
{
    [Fact]
    public async Task Tags_are_served_published_and_used_while_it_waits() => await WindowThread.RunAsync(static () =>
    {
        var memory = new MemoryTagSource();
        memory.Add("count", 0, isWritable: true);
        memory.AddMethod("reset", static _ => []);
        var press = new MemoryTagSource("press");
        press.Add("press/speed", 1);
        var published = new PublishedTagSource();
        var tags = new TagServer([memory, published]);
        var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } },
            new MessageHandlers().MapTags(tags).MapPublishedTags(published));
        Wait(server.StartAsync());
        TagClient client = Wait(TagClient.ConnectAsync(
            new FastPortClientOptions { Endpoint = $"{server.Endpoints[0]}", RoutingId = "press" }));
        TagPublication publication = Wait(client.PublishAsync(press).AsTask());
        TagList list = Wait(client.ResolveAsync(["count", "press/speed"]).AsTask());
        Wait(client.ReadAsync(list, new TagSamples()).AsTask());
        Wait(client.ReadAsync("press/speed").AsTask());
        Wait(client.WriteAsync("count", 7).AsTask());
        Wait(client.CallAsync("reset", []).AsTask());
        TagSubscription subscription = Wait(client.SubscribeAsync(list).AsTask());
        IAsyncEnumerator<TagChange> changes = subscription.GetAsyncEnumerator(Patience.Token);
        Assert.True(Wait(changes.MoveNextAsync().AsTask()));
        Wait(changes.DisposeAsync().AsTask());
        Wait(tags.ReviewAccessAsync().AsTask());
        Wait(subscription.DisposeAsync().AsTask());
        Wait(publication.DisposeAsync().AsTask());
        Wait(client.DisposeAsync().AsTask());
        Wait(tags.DisposeAsync().AsTask());
        Wait(server.DisposeAsync().AsTask());
    });

    private static void Wait(Task task) => task.GetAwaiter().GetResult();

    private static T Wait<T>(Task<T> task) => task.GetAwaiter().GetResult();
}
