using System.Collections.Concurrent;
using System.Diagnostics;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>Listens to the sources of FastPort and of the tests, and keeps the activities that have ended.</summary>
internal sealed class RecordedActivities : IDisposable
{
    private static readonly ActivitySource Source = new("FastPort.Tests");

    private readonly ConcurrentQueue<Activity> _ended = new();
    private readonly ActivityListener _listener;

    public RecordedActivities(ActivitySamplingResult sampled = ActivitySamplingResult.AllDataAndRecorded)
    {
        _listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name is "FastPort" or "FastPort.OpcUa" or "FastPort.Tests",
            Sample = (ref ActivityCreationOptions<ActivityContext> options) =>
                options.Source.Name == "FastPort.Tests" ? ActivitySamplingResult.AllDataAndRecorded : sampled,
            ActivityStopped = activity =>
            {
                _ended.Enqueue(activity);
                Stopped?.Invoke(activity);
            },
        };
        ActivitySource.AddActivityListener(_listener);
    }

    /// <summary>Called when an activity ends, after it was recorded.</summary>
    public Action<Activity>? Stopped { get; set; }

    /// <summary>Those that have ended, in that order.</summary>
    public IReadOnlyList<Activity> Ended => [.. _ended];

    /// <summary>An activity of the test's own, which is the root of a trace.</summary>
    public static Activity Begin(string name = "test")
    {
        Activity.Current = null;
        Activity? begun = Source.StartActivity(name);
        Assert.NotNull(begun);
        return begun;
    }

    /// <summary>The one activity with this kind and name, once it has ended.</summary>
    public async Task<Activity> OneAsync(ActivityKind kind, string name)
    {
        bool IsIt(Activity activity) => activity.Kind == kind && activity.OperationName == name && activity.Source.Name != "FastPort.Tests";
        await Patience.UntilAsync(() => _ended.Any(IsIt), $"a {kind} activity '{name}' has ended");
        return Assert.Single(_ended, IsIt);
    }

    /// <summary>Forgets those that have ended.</summary>
    public void Clear() => _ended.Clear();

    public void Dispose() => _listener.Dispose();
}
