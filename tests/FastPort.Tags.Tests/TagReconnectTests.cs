using System.Collections.Concurrent;
using FastPort.Tags.Messages;
using Google.Protobuf;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>What a client of tags does while it has no connection, and from one session to the next.</summary>
public sealed class TagReconnectTests : IAsyncLifetime
{
    // Its declaration after a reconnect comes behind all that the client asks for by itself.
    private const string Marker = "marker";
    private const string Denied = "denied";

    private readonly MemoryTagSource _marker = new();
    private readonly MemoryTagSource _denied = new("memory");
    private TagBridge? _bridge;
    private TagClient _client = null!;
    private int _attempts;

    public ValueTask InitializeAsync()
    {
        _marker.Add(Marker, 1);
        _denied.Add(Denied, 1, isWritable: true);
        return ValueTask.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await using TagBridge? bridge = _bridge;
    }

    [Fact]
    public async Task A_session_that_ends_after_the_next_one_has_begun_is_not_waited_for()
    {
        var source = new ControlledSource();
        Session? served = null;
        _bridge = await TagBridge.StartAsync([source], new TagServerOptions(), authorizer: (session, _, _, _) =>
        {
            Volatile.Write(ref served, session);
            return true;
        });
        _client = await _bridge.ConnectAsync();
        TagList tags = await _client.ResolveAsync(["1"]);
        await using TagSubscription subscription = await _client.SubscribeAsync(tags, new() { Interval = TimeSpan.FromMilliseconds(10) });
        var connected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var disconnected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _client.Connected += () => connected.TrySetResult();
        _client.Disconnected += _ => disconnected.TrySetResult();

        // The session says Goodbye, and is over only when it has answered.
        Task<TagSamples> late = _client.ReadAsync(tags).AsTask();
        ControlledSource.Call call = await source.NextAsync();
        _ = Volatile.Read(ref served)!.CloseAsync();
        await connected.Task.InTimeAsync();
        call.End.SetResult(TagStatus.Good);
        Assert.Equal(1, (await late.InTimeAsync())[0].Value.Get<int>());
        await disconnected.Task.InTimeAsync();

        Task<TagSamples> read = _client.ReadAsync(tags).AsTask();
        (await source.NextAsync()).End.SetResult(TagStatus.Good);
        Assert.Equal(1, (await read.InTimeAsync())[0].Value.Get<int>());
        await Patience.UntilAsync(() => subscription.IsOn(_client.Session!), "the subscription is made on the next session");
        var samples = new TagSamples();
        samples.Add(5);
        source.Listener!.OnChanges([1], samples);
        await foreach (TagChange change in subscription.WithCancellation(Patience.Token))
        {
            if (change.Sample.Status.IsGood && change.Sample.Value.Get<int>() == 5)
            {
                break;
            }
        }
    }

    [Fact]
    public async Task A_request_after_a_Goodbye_waits_for_the_next_session()
    {
        var source = new ControlledSource();
        Session? served = null;
        _bridge = await TagBridge.StartAsync([source], new TagServerOptions(), authorizer: (session, _, _, _) =>
        {
            Volatile.Write(ref served, session);
            return true;
        });
        int connects = 0;
        var connecting = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var connect = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _client = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = _bridge.Endpoint,
            RequestTimeout = Loopback.Soon,
            TokenProvider = async _ =>
            {
                if (++connects == 2)
                {
                    connecting.SetResult();
                    await connect.Task;
                }

                return string.Empty;
            },
        });
        TagList tags = await _client.ResolveAsync(["1"]);
        Task<TagSamples> before = _client.ReadAsync(tags).AsTask();
        ControlledSource.Call call = await source.NextAsync();
        _ = Volatile.Read(ref served)!.CloseAsync();
        await connecting.Task.InTimeAsync();

        Task<TagSamples> after = _client.ReadAsync(tags).AsTask();
        connect.SetResult();
        call.End.SetResult(TagStatus.Good);
        (await source.NextAsync()).End.SetResult(TagStatus.Good);

        Assert.Equal(1, (await before.InTimeAsync())[0].Value.Get<int>());
        Assert.Equal(1, (await after.InTimeAsync())[0].Value.Get<int>());
    }

    [Fact]
    public async Task A_subscription_that_is_asked_for_without_a_connection_is_made_once()
    {
        using var source = new StuckFeedSource();
        await StartAsync(source);
        await using TagPublication marker = await _client.PublishAsync(_marker);
        TagList tags = await _client.ResolveAsync(["1", Denied]);
        string endpoint = await LoseAsync();

        // The call's own request and the client's by itself come to the same session.
        _client.Connected += () => source.Asked.Wait();
        Task<TagSubscription> subscribing = _client.SubscribeAsync(tags).AsTask();
        await using TagClient reader = await ReturnAsync(endpoint, source);
        source.Release();
        await using TagSubscription subscription = await subscribing.InTimeAsync();

        Assert.Equal([TagStatus.Good, TagStatus.BadUserAccessDenied], subscription.Statuses);
        Assert.Equal(1, _attempts);
    }

    [Fact]
    public async Task A_publication_that_is_asked_for_without_a_connection_is_declared_once()
    {
        int lookups = 0;
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var source = new FaultySource
        {
            Resolving = () =>
            {
                Interlocked.Increment(ref lookups);
                begun.TrySetResult();
                return release.Task;
            },
        };
        source.Tags.Add("late", 1);
        await StartAsync();
        await using TagPublication marker = await _client.PublishAsync(_marker);
        string endpoint = await LoseAsync();

        _client.Connected += () => begun.Task.Wait(Patience.Limit);
        Task<TagPublication> publishing = _client.PublishAsync(source, new TagPublicationOptions { Names = ["late"] }).AsTask();
        await using TagClient reader = await ReturnAsync(endpoint);
        release.SetResult();
        await using TagPublication publication = await publishing.InTimeAsync();
        await IsGoodAsync(reader, "late");

        Assert.Equal([TagStatus.Good], publication.Statuses);
        Assert.Equal(1, lookups);
    }

    [Fact]
    public async Task A_handler_of_Connected_that_throws_keeps_nothing_from_being_made_again()
    {
        var memory = new MemoryTagSource("own");
        memory.Add("1", 1);
        await StartAsync(memory);
        await using TagPublication marker = await _client.PublishAsync(_marker);
        await using TagSubscription subscription = await _client.SubscribeAsync(await _client.ResolveAsync(["1"]));
        _client.Connected += static () => throw new InvalidOperationException("The test says so.");
        string endpoint = await LoseAsync();
        memory.Set("1", 2);

        await using TagClient reader = await ReturnAsync(endpoint, memory);

        await subscription.FirstAsync(static change => change.Sample.Status.IsGood && change.Sample.Value == 2, Patience.Token);
    }

    [Fact]
    public async Task A_server_whose_answer_is_no_message_is_asked_for_a_subscription_again()
    {
        int resolves = 0;
        Session? served = null;
        var made = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        MessageHandlers handlers = new MessageHandlers()
            .MapQueued(TagMessageType.Resolve, context =>
            {
                byte[] resolved = new ResolvedTags { Tags = { new ResolvedTag { Handle = 1 } } }.ToByteArray();
                context.Reply(Interlocked.Increment(ref resolves) == 2 ? [255] : resolved);
                return default;
            })
            .MapQueued(TagMessageType.Subscribe, context =>
            {
                context.Reply(new SubscribedTags { Subscription = 1, IntervalMs = 1000 }.ToByteArray());
                if (Interlocked.Exchange(ref served, context.Session) is not null)
                {
                    made.TrySetResult();
                }

                return default;
            });
        await using var server = new FastPortServer(new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, handlers);
        await server.StartAsync();
        _client = await TagClient.ConnectAsync(server.Endpoints[0].ToString());
        await _client.SubscribeAsync(await _client.ResolveAsync(["1"]));

        await served!.CloseAsync();

        await made.Task.InTimeAsync();
        Assert.Equal(3, resolves);
    }

    [Fact]
    public async Task Only_names_without_a_handle_are_asked_for_again_and_once_for_all_who_use_the_list()
    {
        ConcurrentQueue<string[]> resolves = [];
        ConcurrentQueue<uint[]> reads = [];
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var samples = new TagSamples();
        samples.Add(1);
        samples.Add(2);
        MessageHandlers handlers = new MessageHandlers()
            .MapQueued(TagMessageType.Resolve, async context =>
            {
                string[] names = [.. ResolveTags.Parser.ParseFrom(context.Body.Span).Names];
                resolves.Enqueue(names);
                bool isFirst = names.Length == 2;
                await (isFirst ? Task.CompletedTask : release.Task);
                context.Reply(new ResolvedTags
                {
                    Tags = { names.Select(name => new ResolvedTag { Handle = name == "a" ? 1u : isFirst ? 0u : 2u }) },
                }.ToByteArray());
            })
            .MapQueued(TagMessageType.Read, context =>
            {
                reads.Enqueue([.. ReadTags.Parser.ParseFrom(context.Body.Span).Handles]);
                context.Reply(samples.ToBytes());
                return default;
            });
        await using var server = new FastPortServer(new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, handlers);
        await server.StartAsync();
        _client = await TagClient.ConnectAsync(server.Endpoints[0].ToString());
        TagList tags = await _client.ResolveAsync(["a", "b"]);
        await Patience.UntilAsync(() => tags.Current.IsDue, "the second name is due");

        Task<TagSamples>[] reading = [.. Enumerable.Range(0, 5).Select(_ => _client.ReadAsync(tags).AsTask())];
        release.SetResult();
        await Task.WhenAll(reading).InTimeAsync();

        Assert.Equal([["a", "b"], ["b"]], resolves);
        Assert.All(reads, static handles => Assert.Equal([1, 2], handles));
        Assert.Equal([1, 2], tags.Infos.Select(static info => info!.Tag));
    }

    [Fact]
    public async Task A_request_timeout_of_zero_is_no_limit_for_the_wait_for_a_connection()
    {
        var memory = new MemoryTagSource("own");
        memory.Add("1", 1);
        await StartAsync(memory);
        await _client.DisposeAsync();
        _client = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = _bridge!.Endpoint,
            RoutingId = "publisher",
            RequestTimeout = TimeSpan.Zero,
        });
        await using TagPublication marker = await _client.PublishAsync(_marker);
        TagList tags = await _client.ResolveAsync(["1"]);
        string endpoint = await LoseAsync();

        Task<TagSamples> reading = _client.ReadAsync(tags).AsTask();
        Assert.False(reading.IsCompleted);
        await using TagClient reader = await ReturnAsync(endpoint, memory);

        Assert.Equal(1, (await reading.InTimeAsync())[0].Value);
    }

    [Fact]
    public async Task A_Resolve_has_the_clients_request_timeout()
    {
        var source = new FaultySource { Resolving = static () => Task.Delay(Timeout.Infinite) };
        _bridge = await TagBridge.StartAsync([source], new TagServerOptions { SourceTimeout = TimeSpan.FromHours(1) });
        _client = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = _bridge.Endpoint,
            RequestTimeout = TimeSpan.FromMilliseconds(50),
        });

        // Much earlier than after the 30 s of requests that have none.
        Task resolving = _client.ResolveAsync(["1"]).AsTask();
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => resolving.WaitAsync(TimeSpan.FromSeconds(15)));

        Assert.Equal(RequestFailure.TimedOut, e.Failure);
    }

    private static Task IsGoodAsync(TagClient reader, string tag) =>
        Patience.UntilAsync(async () => (await reader.ReadAsync(tag)).Status.IsGood, $"{tag} is published");

    private async Task StartAsync(params ITagSource[] sources)
    {
        _bridge = await TagBridge.StartAsync([.. sources, _denied, new PublishedTagSource()], new TagServerOptions(), authorizer: Decide);
        _client = await _bridge.ConnectAsync("publisher");
    }

    private async Task<string> LoseAsync()
    {
        var disconnected = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _client.Disconnected += _ => disconnected.TrySetResult();
        string endpoint = _bridge!.Endpoint;
        await _bridge.DisposeAsync();
        await disconnected.Task.InTimeAsync();
        return endpoint;
    }

    // The server is back, and the client has asked it for all that it had before. Returns another client.
    private async Task<TagClient> ReturnAsync(string endpoint, params ITagSource[] sources)
    {
        _bridge = await TagBridge.StartAsync(
            [.. sources, _denied, new PublishedTagSource()], new TagServerOptions(), endpoint, authorizer: Decide);
        TagClient reader = await _bridge.ConnectAsync("reader");
        await IsGoodAsync(reader, Marker);
        return reader;
    }

    // Each Subscribe that has the denied tag asks for it.
    private bool Decide(Session session, TagAccess access, string name, bool isAttempt)
    {
        if (access != TagAccess.Read || name != Denied)
        {
            return true;
        }

        _ = isAttempt && Interlocked.Increment(ref _attempts) > 0;
        return false;
    }
}
