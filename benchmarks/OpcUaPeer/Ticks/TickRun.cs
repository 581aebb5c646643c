using System.Diagnostics;
using FastPort;
using FastPort.OpcUa;

namespace OpcUaPeer.Ticks;

/// <summary>
/// One repetition: at every tick a read, at every tenth a write after it. A thread of its own keeps the time and only begins each tick's
/// work; a tick that finds the one before still at work is missed.
/// </summary>
internal sealed class TickRun(ITickTarget target, ProcessSamples samples, int ticks)
{
    private const int WriteEvery = 10;
    private const int SampleEvery = 10;

    private static readonly long Period = Stopwatch.Frequency / 10;
    private static readonly TimeSpan LastPatience = TimeSpan.FromSeconds(30);

    // As published: of 600 ticks 570 are analysed.
    private readonly int _first = ticks / 20;
    private readonly List<double> _drifts = new(ticks);
    private readonly List<double> _reads = new(ticks);
    private readonly List<double> _writes = new((ticks / WriteEvery) + 1);
    private int _missed;
    private int _errors;
    private string? _firstError;
    private long _begun;
    private long _ended;

    public Task<TickFigures> RunAsync() =>
        Task.Factory.StartNew(Run, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    private TickFigures Run()
    {
        samples.Begin();
        Task work = Task.CompletedTask;
        long start = Stopwatch.GetTimestamp() + Period;
        for (int tick = 0; tick < ticks; tick++)
        {
            long due = start + (tick * Period);
            TickClock.WaitUntil(due);
            long now = Stopwatch.GetTimestamp();
            if (!work.IsCompleted || now - due >= Period)
            {
                _missed++;
                continue;
            }

            // What is no failed request ends the run.
            work.GetAwaiter().GetResult();
            if (tick >= _first)
            {
                _begun = _drifts.Count == 0 ? now : _begun;
                _drifts.Add(Microseconds(now - due));
            }

            work = WorkAsync(tick);
        }

        if (!work.Wait(LastPatience))
        {
            throw new PeerException($"The last tick's requests were not answered within {LastPatience.TotalSeconds:0} s.");
        }

        return new TickFigures(ticks, _missed, _errors, _firstError)
        {
            Drifts = _drifts,
            Reads = _reads,
            Writes = _writes,
            ReadTags = target.ReadTags,
            WriteTags = target.WriteTags,
            Seconds = _begun == 0 ? 0 : Stopwatch.GetElapsedTime(_begun, _ended).TotalSeconds,
        };
    }

    private static double Microseconds(long elapsed) => elapsed * (1e6 / Stopwatch.Frequency);

    private async Task WorkAsync(int tick)
    {
        try
        {
            long sent = Stopwatch.GetTimestamp();
            await target.ReadAsync();
            Record(_reads, tick, sent);
            target.CheckRead();
            if (tick % WriteEvery == WriteEvery - 1)
            {
                sent = Stopwatch.GetTimestamp();
                await target.WriteAsync();
                Record(_writes, tick, sent);
                target.CheckWrite();
            }
        }
        catch (Exception e) when (
            e is PeerException or OpcUaException or EndpointException or IOException or TimeoutException or ObjectDisposedException)
        {
            _errors++;
            _firstError ??= e.Message;
        }

        // In between the writes, and when nothing is measured.
        if (tick % SampleEvery == SampleEvery / 2)
        {
            samples.Take();
        }
    }

    private void Record(List<double> roundTrips, int tick, long sent)
    {
        if (tick >= _first)
        {
            _ended = Stopwatch.GetTimestamp();
            roundTrips.Add(Microseconds(_ended - sent));
        }
    }
}
