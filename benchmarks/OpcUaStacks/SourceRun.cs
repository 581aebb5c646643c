using System.Diagnostics;
using System.Text.Json;
using FastPort.Tags;
using FastPort.Tags.OpcFoundation;
using FastPort.Tags.OpcUa;
using FastPort.Tags.OpcUa.Sources;
using Microsoft.Extensions.Logging.Abstractions;

namespace OpcUaStacks;

/// <summary>What one process measures with one stack.</summary>
/// <param name="StartMs">From the start of the process to the first value, in milliseconds.</param>
/// <param name="ReadsPerSecond">Reads of all tags, 16 outstanding at any time.</param>
/// <param name="BytesPerRead">Memory allocated for each.</param>
/// <param name="MicrosPerChange">Time of the core for each reported change, in microseconds.</param>
/// <param name="BytesPerChange">Memory allocated for each reported change.</param>
internal sealed record SourceFigures(
    double StartMs, double ReadsPerSecond, double BytesPerRead, double MicrosPerChange, double BytesPerChange);

internal static class SourceRun
{
    private const int Outstanding = 16;

    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan Measured = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(20);

    public static async Task<string> RunAsync(string stack, string url)
    {
        var settings = new OpcUaTagsOptions();
        var options = new OpcUaEndpointOptions { Name = "plant", Below = { $"nsu={TagServer.NamespaceUri};i=1" } };
        options.Client.EndpointUrl = url;
        options.Client.Certificates.Directory = Directory.CreateTempSubdirectory("stacks-").FullName;
        settings.Endpoints.Add(options);
        await using var source = new OpcUaTagSource(
            options,
            settings,
            NullLoggerFactory.Instance,
            connect: stack == nameof(OpcUaStack.OpcFoundation) ? FoundationLink.ConnectAsync : null);
        source.Start();
        await source.Loaded;
        int[] tags = [.. Enumerable.Range(0, TagServer.Tags)];
        await ReadAsync(source, tags, new TagSamples());
        double start = (DateTime.Now - Process.GetCurrentProcess().StartTime).TotalMilliseconds;

        await LoadAsync(source, tags, WarmUp);
        long before = GC.GetTotalAllocatedBytes(precise: true);
        (long reads, TimeSpan took) = await LoadAsync(source, tags, Measured);
        double bytes = (GC.GetTotalAllocatedBytes(precise: true) - before) / (double)reads;

        var counter = new Counter();
        await using ITagFeed feed = await source.OpenFeedAsync(Interval, counter, CancellationToken.None);
        await feed.AddAsync(tags, new TagStatus[tags.Length], CancellationToken.None);
        await Task.Delay(WarmUp);
        (long Changes, TimeSpan Time, long Bytes) from = Now(counter);
        await Task.Delay(Measured);
        (long Changes, TimeSpan Time, long Bytes) to = Now(counter);
        double changes = to.Changes - from.Changes;
        Directory.Delete(options.Client.Certificates.Directory, recursive: true);
        return JsonSerializer.Serialize(new SourceFigures(
            start, reads / took.TotalSeconds, bytes, (to.Time - from.Time).TotalMicroseconds / changes, (to.Bytes - from.Bytes) / changes));
    }

    private static (long Changes, TimeSpan Time, long Bytes) Now(Counter counter) =>
        (counter.Changes, Environment.CpuUsage.TotalTime, GC.GetTotalAllocatedBytes(precise: true));

    private static async Task<(long Reads, TimeSpan Took)> LoadAsync(OpcUaTagSource source, int[] tags, TimeSpan time)
    {
        long begun = Stopwatch.GetTimestamp();
        long[] reads = await Task.WhenAll(Enumerable.Range(0, Outstanding).Select(async _ =>
        {
            var samples = new TagSamples();
            long count = 0;
            for (; Stopwatch.GetElapsedTime(begun) < time; count++)
            {
                await ReadAsync(source, tags, samples);
            }

            return count;
        }));
        return (reads.Sum(), Stopwatch.GetElapsedTime(begun));
    }

    private static async ValueTask ReadAsync(OpcUaTagSource source, int[] tags, TagSamples samples)
    {
        samples.Clear();
        TagStatus status = await source.ReadAsync(tags, samples, CancellationToken.None);
        if (!status.IsGood || samples.Count != tags.Length || !samples.GetStatus(tags.Length - 1).IsGood)
        {
            throw new InvalidOperationException($"A read is {status}.");
        }
    }

    private sealed class Counter : ITagFeedListener
    {
        private long _changes;

        public long Changes => Volatile.Read(ref _changes);

        public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples) => Interlocked.Add(ref _changes, tags.Length);
    }
}
