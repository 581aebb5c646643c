using System.Diagnostics;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>Under which activity a source is called.</summary>
[Collection<TraceCollection>]
public sealed class TagTraceTests : IAsyncLifetime
{
    private readonly ControlledSource _source = new();
    private readonly RecordedActivities _activities = new();
    private TagBridge _bridge = null!;
    private TagClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _bridge = await TagBridge.StartAsync([_source], new TagServerOptions { MaxConcurrentReads = 1, MaxConcurrentWrites = 1 });
        _client = await _bridge.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        _activities.Dispose();
        await _client.DisposeAsync();
        await _bridge.DisposeAsync();
    }

    [Fact]
    public async Task A_read_that_was_gathered_from_several_requests_is_under_the_first_and_the_others_have_a_link_to_it()
    {
        TagList tags = await _client.ResolveAsync(["1", "2"]);
        _activities.Clear();

        // The first keeps the source busy, so that the next two are gathered into one call.
        Task busy = Traced("busy", () => _client.ReadAsync(tags).AsTask());
        ControlledSource.Call call = await _source.NextAsync();
        Task first = Traced("first", () => _client.ReadAsync(tags).AsTask());
        Task second = Traced("second", () => _client.ReadAsync(tags).AsTask());
        await PassAsync();
        call.End.SetResult(TagStatus.Good);
        ControlledSource.Call gathered = await _source.NextAsync();
        gathered.End.SetResult(TagStatus.Good);
        await Task.WhenAll(busy, first, second).InTimeAsync();

        await Patience.UntilAsync(() => Served.Count == 3, "the three requests have ended");
        Activity leader = Served.Single(activity => activity.TraceId == gathered.Cause!.TraceId);
        Assert.Same(leader, gathered.Cause);
        Assert.NotEqual(leader, call.Cause);
        Activity joined = Assert.Single(Served, activity => activity != leader && activity != call.Cause);
        Assert.Equal(leader.Context, Assert.Single(joined.Links).Context);
        Assert.Empty(leader.Links);
    }

    [Fact]
    public async Task A_write_that_waited_for_another_is_under_its_own_request()
    {
        TagList tags = await _client.ResolveAsync(["1"]);
        _activities.Clear();

        Task first = Traced("first", () => WriteAsync(tags, 10));
        ControlledSource.Call call = await _source.NextAsync();
        Task second = Traced("second", () => WriteAsync(tags, 11));
        await PassAsync();
        call.End.SetResult(TagStatus.Good);
        ControlledSource.Call next = await _source.NextAsync();
        next.End.SetResult(TagStatus.Good);
        await Task.WhenAll(first, second).InTimeAsync();

        await Patience.UntilAsync(() => Served.Count == 2, "both requests have ended");
        Assert.NotEqual(call.Cause!.TraceId, next.Cause!.TraceId);
        Assert.Equivalent(new[] { call.Cause, next.Cause }, Served);
    }

    private IReadOnlyList<Activity> Served =>
        [.. _activities.Ended.Where(static activity => activity.Kind == ActivityKind.Server && activity.OperationName != "ResolveTags")];

    // Requests behind those that were sent before, which have begun when these are answered.
    private async Task PassAsync()
    {
        await _client.ResolveAsync(["0"]);
        await _client.ResolveAsync(["0"]);
    }

    // Each request is a trace of its own.
    private static async Task Traced(string name, Func<Task> request)
    {
        using Activity root = RecordedActivities.Begin(name);
        await request();
    }

    private async Task WriteAsync(TagList tags, int value)
    {
        var values = new TagSamples();
        values.Add(value);
        await _client.WriteAsync(tags, values);
    }
}
