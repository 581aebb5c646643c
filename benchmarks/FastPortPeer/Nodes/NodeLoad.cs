using System.Diagnostics;
using System.Text.Json;
using FastPort.Telemetry;

namespace FastPortPeer.Nodes;

/// <summary>A load whose messages follow each other: each ends with a confirmation, which begins the next. Thread-safe.</summary>
internal abstract class NodeLoad
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(15);

    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    private LatencyHistogram _roundTrips = new();
    private TaskCompletionSource _idle = new();
    private long _messages;
    private int _inFlight;
    private volatile bool _isRunning;

    /// <summary>Answers lines "run LEAD-IN SECONDS" with what was measured, until the input ends.</summary>
    /// <param name="processes">The processes whose CPU time and memory are the servers'.</param>
    public async Task ServeAsync(int[] processes)
    {
        Console.WriteLine("ready");
        await foreach (string line in InputLines.Start().ReadAllAsync())
        {
            string[] words = line.Split(' ');
            _idle = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _isRunning = true;
            Volatile.Write(ref _inFlight, Count);
            Begin();
            await Task.Delay(Seconds(words[1]));
            TimeSpan serverCpu = Cpu();
            TimeSpan ownCpu = ProcessFigures.OwnCpu;
            long messages = Volatile.Read(ref _messages);
            var roundTrips = new LatencyHistogram();
            Volatile.Write(ref _roundTrips, roundTrips);
            long begun = Stopwatch.GetTimestamp();
            await Task.Delay(Seconds(words[2]));
            double seconds = Stopwatch.GetElapsedTime(begun).TotalSeconds;
            messages = Volatile.Read(ref _messages) - messages;
            ownCpu = ProcessFigures.OwnCpu - ownCpu;
            serverCpu = Cpu() - serverCpu;
            _isRunning = false;
            await Task.WhenAny(_idle.Task, Task.Delay(Patience));
            Throw();
            if (!_idle.Task.IsCompleted)
            {
                throw new PeerException($"{Volatile.Read(ref _inFlight)} messages were not confirmed within {Patience.TotalSeconds} s.");
            }

            Verify(Volatile.Read(ref _messages), Patience);
            LatencySnapshot times = roundTrips.Snapshot();
            Console.WriteLine(JsonSerializer.Serialize(
                new
                {
                    Messages = messages,
                    Seconds = seconds,
                    MessagesPerS = messages / seconds,
                    Errors = 0L,
                    P50Us = times.P50 / 1e3,
                    P95Us = times.P95 / 1e3,
                    P99Us = times.P99 / 1e3,
                    P999Us = times.P999 / 1e3,
                    MaxUs = times.Max / 1e3,
                    ClientCpuS = ownCpu.TotalSeconds,
                    ClientPeakRssKb = ProcessFigures.PeakKilobytes(Environment.ProcessId),
                    ServerCpuS = serverCpu.TotalSeconds,
                    ServerCpuUsPerMessage = serverCpu.TotalMicroseconds / messages,
                    ServerPeakRssKb = processes.Sum(ProcessFigures.PeakKilobytes),
                },
                Format));
        }

        TimeSpan Cpu() => processes.Aggregate(TimeSpan.Zero, static (sum, id) => sum + ProcessFigures.Cpu(id));
    }

    /// <summary>Messages in flight.</summary>
    protected abstract int Count { get; }

    /// <summary>Sends the first messages of a run; none is under way.</summary>
    protected abstract void Begin();

    /// <summary>A message was confirmed. Returns whether the next one is to be sent.</summary>
    /// <param name="sentAt">When it was sent, as a timestamp.</param>
    public bool Confirmed(long sentAt)
    {
        Counted();
        Took(sentAt);
        return GoesOn();
    }

    /// <summary>A message is done.</summary>
    protected void Counted() => Interlocked.Increment(ref _messages);

    /// <summary>A round trip is over.</summary>
    /// <param name="sentAt">When it began, as a timestamp.</param>
    protected void Took(long sentAt) =>
        Volatile.Read(ref _roundTrips).Record((long)Stopwatch.GetElapsedTime(sentAt).TotalNanoseconds);

    /// <summary>Whether another one is to be sent instead of one that was in flight.</summary>
    protected bool GoesOn()
    {
        if (_isRunning)
        {
            return true;
        }

        if (Interlocked.Decrement(ref _inFlight) == 0)
        {
            _idle.TrySetResult();
        }

        return false;
    }

    /// <summary>Throws if the load has failed.</summary>
    protected abstract void Throw();

    /// <summary>
    /// Throws if what was confirmed has not arrived, where somebody else than who confirms it has to say so. No message is under way.
    /// </summary>
    /// <param name="confirmed">Messages since the start.</param>
    /// <param name="patience">How long an arrival may take beyond its confirmation.</param>
    protected virtual void Verify(long confirmed, TimeSpan patience)
    {
    }

    private static TimeSpan Seconds(string text) =>
        TimeSpan.FromSeconds(double.Parse(text, System.Globalization.CultureInfo.InvariantCulture));
}
