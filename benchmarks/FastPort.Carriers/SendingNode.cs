using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics;

namespace FastPort.Carriers;

/// <summary>
/// Node a: keeps so many messages in flight, or begins so many a second, each acknowledged by its number, and times them. Only one thread
/// at a time begins messages: at a rate the timer's; else the carrier's, once the first are sent, as it hands batches over one at a time.
/// </summary>
internal sealed class SendingNode
{
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(5);

    private readonly ICarrier _carrier;
    private readonly Outbox _outbox;
    private readonly int _size;
    private readonly Load _load;
    private readonly ConcurrentDictionary<long, long> _sent = new();
    private readonly List<double> _times = new(4_000_000);
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _next;
    private long _twice;
    private long _lastAt;
    private TimeSpan _longestSilence;
    private volatile bool _isMeasured;
    private volatile bool _isOver;

    public SendingNode(ICarrier carrier, bool isBatched, int size, Load load)
    {
        _carrier = carrier;
        _outbox = new Outbox(carrier, "b", isBatched);
        (_size, _load) = (Math.Max(Batch.NumberBytes, size), load);
    }

    /// <summary>Starts the other node, runs, and ends it.</summary>
    /// <returns>The figures as cells of a table; null where the other node has ended before it was ready.</returns>
    public async Task<string?> RunAsync(string[] otherArguments, TimeSpan duration)
    {
        await _carrier.StartAsync("a", OnAcknowledged);
        _ = _outbox.RunAsync();
        using Process other = Start(otherArguments);
        string? line;
        do
        {
            line = await other.StandardOutput.ReadLineAsync();
            if (line is null)
            {
                return null;
            }
        }
        while (line != AcknowledgingNode.Ready);

        for (int i = 0; i < _load.InFlight; i++)
        {
            Begin(Stopwatch.GetTimestamp());
        }

        _outbox.Flush();
        Task sending = _load.PerSecond > 0 ? SendAtRateAsync() : Task.CompletedTask;
        await Task.Delay(WarmUp);
        long batches = _outbox.Batches;
        long begun = Stopwatch.GetTimestamp();
        _isMeasured = true;
        await Task.Delay(duration);
        _isMeasured = false;
        double seconds = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        batches = _outbox.Batches - batches;
        _isOver = true;
        await sending;
        await Task.WhenAny(_drained.Task, Task.Delay(Patience));
        if (!other.HasExited)
        {
            await other.StandardInput.WriteLineAsync();
            await Task.WhenAny(other.WaitForExitAsync(), Task.Delay(Patience));
            if (!other.HasExited)
            {
                other.Kill();
            }
        }

        double[] times = [.. _times.Order()];
        return FormattableString.Invariant($"{times.Length / seconds:N0} | {At(times, 0.5):N0} | {At(times, 0.99):N0} | ")
            + FormattableString.Invariant($"{times.Length / (double)Math.Max(1, batches):F1} | {_next} | {_sent.Count} | {_twice} | ")
            + FormattableString.Invariant($"{_longestSilence.TotalMilliseconds:N0}");
    }

    private static Process Start(string[] arguments) => Process.Start(
        new ProcessStartInfo(Environment.ProcessPath!, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            UseShellExecute = false,
        })!;

    private static double At(double[] sorted, double part) => sorted.Length == 0 ? double.NaN : sorted[(int)(part * (sorted.Length - 1))];

    private async Task SendAtRateAsync()
    {
        using var timer = new PeriodicTimer(Tick);
        long begun = Stopwatch.GetTimestamp();
        while (!_isOver)
        {
            await timer.WaitForNextTickAsync();
            long now = Stopwatch.GetTimestamp();
            for (double due = Stopwatch.GetElapsedTime(begun, now).TotalSeconds * _load.PerSecond; _next < due;)
            {
                // What a tick that came late has held up counts from the tick that it was due at, at the latest.
                double tick = (_next / (double)_load.PerSecond) + Tick.TotalSeconds;
                Begin(Math.Min(now, begun + (long)(tick * Stopwatch.Frequency)));
            }

            _outbox.Flush();
        }
    }

    private void Begin(long sentAt)
    {
        byte[] message = new byte[_size];
        BinaryPrimitives.WriteInt64LittleEndian(message, _next);
        _sent[_next++] = sentAt;
        _outbox.Add(message);
    }

    private void OnAcknowledged(ReadOnlyMemory<byte> batch)
    {
        long now = Stopwatch.GetTimestamp();
        for (ReadOnlySpan<byte> left = batch.Span; !left.IsEmpty;)
        {
            if (!_sent.TryRemove(BinaryPrimitives.ReadInt64LittleEndian(Batch.Next(ref left)), out long begun))
            {
                _twice++;
                continue;
            }

            if (_isMeasured)
            {
                TimeSpan silence = _lastAt == 0 ? default : Stopwatch.GetElapsedTime(_lastAt, now);
                _longestSilence = silence > _longestSilence ? silence : _longestSilence;
                _lastAt = now;
                _times.Add(Stopwatch.GetElapsedTime(begun, now).TotalMicroseconds);
            }

            if (_isOver && _sent.IsEmpty)
            {
                _drained.TrySetResult();
            }
            else if (!_isOver && _load.InFlight > 0)
            {
                Begin(Stopwatch.GetTimestamp());
            }
        }

        _outbox.Flush();
    }
}
