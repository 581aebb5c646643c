using System.Diagnostics;
using FastPort;
using FastPort.Tags;
using FastPort.Telemetry;
using OpcUaPeer.Loads;
using TagList = FastPort.Tags.TagList;

namespace OpcUaPeer.Sharing;

/// <summary>
/// One of the sessions: reads the variables that count how often they are read. An answer must have one count, and one time of the server,
/// for all of them: those of one Read.
/// </summary>
internal sealed class SharingSession : IAsyncDisposable
{
    private static readonly TimeSpan MaxAge = TimeSpan.FromMilliseconds(10);

    private readonly TagClient _client;
    private readonly TagList _tags;
    private readonly TagSamples _samples = new();
    private Task _work = Task.CompletedTask;
    private long _count;

    private SharingSession(TagClient client, TagList tags)
    {
        _client = client;
        _tags = tags;
    }

    public LatencyHistogram RoundTrips { get; } = new();

    /// <summary>Requests that were due while the one before was under way.</summary>
    public int Missed { get; private set; }

    /// <summary>The greatest age that a value had when it was asked for.</summary>
    public TimeSpan Oldest { get; private set; }

    public static async Task<SharingSession> ConnectAsync(string endpoint)
    {
        // All sessions have one loop.
        TagClient client = await TagClient.ConnectAsync(new FastPortClientOptions { Endpoint = endpoint, Reconnect = false, Loops = 1 });
        return new SharingSession(
            client, await BridgeTags.FindAsync(client, Enumerable.Range(0, TagValues.ReadCounters).Select(TagValues.ReadCounterName)));
    }

    /// <summary>Forgets what was measured. While nothing is under way.</summary>
    public void Reset()
    {
        RoundTrips.Reset();
        Missed = 0;
        Oldest = TimeSpan.Zero;
    }

    /// <summary>A request is due. On the thread that keeps the time.</summary>
    /// <exception cref="PeerException">The answer before was wrong.</exception>
    public void Begin()
    {
        if (!_work.IsCompleted)
        {
            Missed++;
            return;
        }

        // What has failed ends the run.
        _work.GetAwaiter().GetResult();
        _work = ReadAsync();
    }

    /// <summary>Completes when nothing is under way.</summary>
    public Task EndAsync() => _work;

    /// <summary>Has the variables read once more. Their count then, this Read included.</summary>
    public async Task<long> CountAsync()
    {
        await _client.ReadAsync(_tags, _samples);
        Check();
        return _count;
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private async Task ReadAsync()
    {
        DateTime asked = DateTime.UtcNow;
        long sent = Stopwatch.GetTimestamp();
        await _client.ReadAsync(_tags, _samples, MaxAge);
        RoundTrips.Record((long)Stopwatch.GetElapsedTime(sent).TotalNanoseconds);
        Check();
        TimeSpan age = asked - _samples.GetServerTime(0);
        Oldest = age > Oldest ? age : Oldest;
    }

    private void Check()
    {
        DateTime time = _samples.GetServerTime(0);
        if (!_samples.TryGet(0, out long count) || count < _count || time == default)
        {
            throw new PeerException($"{_tags.Names[0]} is {_samples[0]} after the count {_count} was seen.");
        }

        for (int row = 0; row < _samples.Count; row++)
        {
            if (!_samples.GetStatus(row).IsGood || !_samples.TryGet(row, out long other) || other != count
                || _samples.GetServerTime(row) != time)
            {
                throw new PeerException(
                    $"{_tags.Names[row]} is {_samples[row]}, and {_tags.Names[0]} is {_samples[0]}: they are of two Reads.");
            }
        }

        _count = count;
    }
}
