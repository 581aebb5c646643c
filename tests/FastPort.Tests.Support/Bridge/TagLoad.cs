using System.Collections.Concurrent;
using FastPort.Tags;

namespace FastPort.Tests.Support;

/// <summary>
/// Writes 1, 2, 3, ... to each tag, one write of a tag after the other, and reads all of them meanwhile. Counts what was acknowledged.
/// </summary>
internal sealed class TagLoad : IAsyncDisposable
{
    private readonly CancellationTokenSource _stop = new();
    private readonly ConcurrentDictionary<TagStatus, long> _read = [];
    private readonly ConcurrentDictionary<TagStatus, long> _written = [];
    private readonly TagClient _client;
    private readonly Task _running;

    public TagLoad(TagClient client, IReadOnlyList<string> names)
    {
        _client = client;
        Writers = [.. names.Select(static name => new Writer(name))];
        _running = Task.WhenAll([.. Writers.Select(WriteAsync), ReadAsync(names)]);
    }

    public IReadOnlyList<Writer> Writers { get; }

    /// <summary>The statuses that tags were read with.</summary>
    public ICollection<TagStatus> ReadStatuses => _read.Keys;

    /// <summary>The statuses that tags were written with.</summary>
    public ICollection<TagStatus> WriteStatuses => _written.Keys;

    /// <summary>Waits until every tag has had so many more acknowledged writes, and until all were read well.</summary>
    public async Task UntilWrittenAsync(int more)
    {
        int[] before = [.. Writers.Select(static writer => writer.Count)];
        await Patience.UntilAsync(
            () => Writers.Index().All(one => one.Item.Count >= before[one.Index] + more),
            $"{more} more writes of each tag are acknowledged");
        await UntilReadAsync(TagStatus.Good);
    }

    /// <summary>Waits until a tag is read with a status from now on.</summary>
    public async Task UntilReadAsync(TagStatus status)
    {
        long before = _read.GetValueOrDefault(status);
        await Patience.UntilAsync(() => _read.GetValueOrDefault(status) > before, $"a tag is {status}");
    }

    /// <summary>Ends the load; all requests have been answered then.</summary>
    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await _running.WaitAsync(Patience.Limit);
    }

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        _stop.Dispose();
    }

    private static void Count(ConcurrentDictionary<TagStatus, long> counts, TagStatus status) =>
        counts.AddOrUpdate(status, 1, static (_, count) => count + 1);

    private async Task WriteAsync(Writer writer)
    {
        while (!_stop.IsCancellationRequested)
        {
            int number = ++writer.Attempts;
            try
            {
                TagStatus status = await _client.WriteAsync(writer.Name, number, cancellationToken: CancellationToken.None);
                Count(_written, status);
                if (status.IsGood)
                {
                    writer.Acknowledge(number);
                    continue;
                }
            }
            catch (RequestFailedException)
            {
                // Whether it was written is not known.
            }

            // What is refused at once must not take the time from a server that starts.
            await Task.Delay(1);
        }
    }

    private async Task ReadAsync(IReadOnlyList<string> names)
    {
        TagList? tags = null;
        var samples = new TagSamples();
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                tags ??= await _client.ResolveAsync(names);
                await _client.ReadAsync(tags, samples);
                for (int i = 0; i < samples.Count; i++)
                {
                    Count(_read, samples.GetStatus(i));
                }
            }
            catch (RequestFailedException)
            {
                // The connection to the bridge has ended.
            }

            await Task.Delay(1);
        }
    }

    /// <summary>A tag with the numbers that were written to it.</summary>
    internal sealed class Writer(string name)
    {
        private readonly List<int> _acknowledged = [];
        private int _count;

        public string Name => name;

        /// <summary>The last number that was written.</summary>
        public int Attempts { get; set; }

        /// <summary>Number of acknowledged writes.</summary>
        public int Count => Volatile.Read(ref _count);

        /// <summary>What was acknowledged, in order. After the load has ended.</summary>
        public IReadOnlyList<int> Acknowledged => _acknowledged;

        public void Acknowledge(int number)
        {
            _acknowledged.Add(number);
            Volatile.Write(ref _count, _acknowledged.Count);
        }
    }
}
