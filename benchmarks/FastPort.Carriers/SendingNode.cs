using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics;

namespace FastPort.Carriers;

/// <summary>
/// Node a: keeps so many messages in flight, each acknowledged by its number, and times them. The carrier hands batches over one at a time,
/// so that only its thread begins messages once the first are sent.
/// </summary>
internal sealed class SendingNode
{
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    private readonly ICarrier _carrier;
    private readonly Outbox _outbox;
    private readonly int _size;
    private readonly int _inFlight;
    private readonly ConcurrentDictionary<long, long> _sent = new();
    private readonly List<double> _times = new(4_000_000);
    private readonly TaskCompletionSource _drained = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _next;
    private long _twice;
    private volatile bool _isMeasured;
    private volatile bool _isOver;

    public SendingNode(ICarrier carrier, bool isBatched, int size, int inFlight)
    {
        _carrier = carrier;
        _outbox = new Outbox(carrier, "b", isBatched);
        (_size, _inFlight) = (Math.Max(Batch.NumberBytes, size), inFlight);
    }

    /// <summary>Starts the other node, runs, and ends it. Returns the figures as cells of a table.</summary>
    public async Task<string> RunAsync(string[] otherArguments, TimeSpan duration)
    {
        await _carrier.StartAsync("a", OnAcknowledged);
        _ = _outbox.RunAsync();
        using Process other = Start(otherArguments);
        while (await other.StandardOutput.ReadLineAsync() is { } line && line != AcknowledgingNode.Ready)
        {
        }

        for (int i = 0; i < _inFlight; i++)
        {
            Begin();
        }

        _outbox.Flush();
        await Task.Delay(WarmUp);
        long batches = _outbox.Batches;
        long begun = Stopwatch.GetTimestamp();
        _isMeasured = true;
        await Task.Delay(duration);
        _isMeasured = false;
        double seconds = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        batches = _outbox.Batches - batches;
        _isOver = true;
        await Task.WhenAny(_drained.Task, Task.Delay(Patience));
        await other.StandardInput.WriteLineAsync();
        await other.WaitForExitAsync();
        double[] times = [.. _times.Order()];
        return FormattableString.Invariant($"{times.Length / seconds:N0} | {At(times, 0.5):N0} | {At(times, 0.99):N0} | ")
            + FormattableString.Invariant($"{times.Length / (double)Math.Max(1, batches):F1} | {_sent.Count} | {_twice}");
    }

    private static Process Start(string[] arguments) => Process.Start(
        new ProcessStartInfo(Environment.ProcessPath!, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            UseShellExecute = false,
        })!;

    private static double At(double[] sorted, double part) => sorted.Length == 0 ? double.NaN : sorted[(int)(part * (sorted.Length - 1))];

    private void Begin()
    {
        byte[] message = new byte[_size];
        BinaryPrimitives.WriteInt64LittleEndian(message, _next);
        _sent[_next++] = Stopwatch.GetTimestamp();
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
                _times.Add(Stopwatch.GetElapsedTime(begun, now).TotalMicroseconds);
            }

            if (!_isOver)
            {
                Begin();
            }
            else if (_sent.IsEmpty)
            {
                _drained.TrySetResult();
            }
        }

        _outbox.Flush();
    }
}
