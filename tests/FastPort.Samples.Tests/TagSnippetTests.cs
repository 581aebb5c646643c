using FastPort.Samples.Tests.Snippets;
using FastPort.Tags;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>The code of docs/tags.md and docs/tag-sources.md does what they say.</summary>
public sealed class TagSnippetTests
{
    [Fact]
    public async Task A_source_of_a_users_own_is_read_browsed_and_watched()
    {
        await using var source = new ProcessTagSource();
        await using FastPortServer server = await TagSnippets.ServeAsync(source);
        await using TagClient client = await TagClient.ConnectAsync(server.Endpoints[0].ToString());

        Assert.True((await client.ReadAsync("process/memory")).Value.Get<long>() > 0);
        Assert.Equal(TagStatus.BadNotWritable, await client.WriteAsync("process/memory", 1L));
        Assert.Equal(["process/memory", "process/gc"], await client.BrowseAsync("process").Select(static node => node.Name).ToArrayAsync());
        TagChange change = await TagSnippets.WatchAsync(client, "process/memory", static sample => sample.Status.IsGood);
        Assert.Equal("process/memory", change.Name);
    }

    [Fact]
    public async Task A_host_serves_tags_as_shown()
    {
        HostApplicationBuilder builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings());
        builder.Configuration.AddInMemoryCollection([KeyValuePair.Create("FastPort:Endpoints:0", (string?)"tcp://127.0.0.1:0")]);
        TagSnippets.AddTags(builder.Services, builder.Configuration);
        IHost host = builder.Build();
        await using var disposed = (IAsyncDisposable)host;
        await host.StartAsync();
        await using TagClient client = await TagClient.ConnectAsync(
            host.Services.GetRequiredService<FastPortServer>().Endpoints[0].ToString());

        Assert.True((await client.ReadAsync("process/memory")).Value.Get<long>() > 0);
        await host.StopAsync();
    }

    [Fact]
    public async Task Tags_are_read_and_written_as_shown()
    {
        await using var memory = new MemoryTagSource();
        memory.Add("pump/speed", 1500.0, isWritable: true);
        memory.Add("tank/level", 0.5);
        await using FastPortServer server = await TagSnippets.ServeAsync(memory);
        await using TagClient client = await TagClient.ConnectAsync(server.Endpoints[0].ToString());

        await TagSnippets.UseAsync(client, "pump/speed", "tank/level");

        Assert.Equal(1200.0, (await client.ReadAsync("pump/speed")).Value);
    }

    [Fact]
    public async Task Tags_are_published_as_shown()
    {
        await using var published = new PublishedTagSource();
        await using var tags = new TagServer([published]);
        MessageHandlers handlers = new MessageHandlers().MapTags(tags).MapPublishedTags(published);
        await using var server = new FastPortServer(new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, handlers);
        await server.StartAsync();
        var declared = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        published.Declared += _ => declared.TrySetResult();
        using var cancellation = new CancellationTokenSource();

        Task publishing = TagSnippets.PublishAsync(server.Endpoints[0].ToString(), cancellation.Token);
        await Task.WhenAny(declared.Task, publishing);
        await using TagClient client = await TagClient.ConnectAsync(server.Endpoints[0].ToString());
        await TagSnippets.WatchAsync(client, "press/speed", static sample => sample.Status.IsGood && sample.Value.Get<double>() >= 2);
        Assert.Equal(TagStatus.Good, await client.WriteAsync("press/limit", 80.0));

        await cancellation.CancelAsync();
        await publishing;
    }
}
