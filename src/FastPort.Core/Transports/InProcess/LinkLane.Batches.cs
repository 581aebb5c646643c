using FastPort.Buffers;

namespace FastPort.Transports.InProcess;

/// <content>Batches: rings that were filled without the lock, and those that wait in line for the receiver. Guarded by the gate.</content>
internal sealed partial class LinkLane
{
    // A shorter one is better copied: rings that wait hold an array each.
    public const int InLineAtLeast = 32 * 1024;

    // In order, before the ring being filled; made with the first batch that finds something waiting.
    private Queue<SendRing>? _ready;
    private int _readyBytes;

    // Empty ones.
    private Stack<SendRing>? _spares;

    private IEnumerable<SendRing> Untaken => _ready is null ? [_filling] : _ready.Append(_filling);

    private bool IsTaken => _filling.IsEmpty && _ready is null or { Count: 0 };

    /// <summary>A ring that <see cref="TryTakeIn"/> takes.</summary>
    public ArrayPoolCircularBuffer CreateBatch() => new(SendRing.MinimumCapacity, _settings.MaxSendBytes, _sender.SendPool);

    /// <summary>
    /// Appends a batch without a copy; false where a copy is better, or as much waits already as a ring may hold. Between BeginWrite and
    /// EndWrite only.
    /// </summary>
    /// <param name="batch">From <see cref="CreateBatch"/>; an empty ring of the same kind afterwards.</param>
    public bool TryTakeIn(ref ArrayPoolCircularBuffer batch)
    {
        lock (_gate)
        {
            int length = batch.Length;
            if (_closed || _ending || _final || PendingBytes + length > _settings.MaxSendBytes)
            {
                return false;
            }

            if (!_filling.IsEmpty)
            {
                if (length < InLineAtLeast)
                {
                    return false;
                }

                PutFillingInLine();
            }

            batch = _filling.Exchange(batch);
            Volatile.Write(ref _written, _written + length);
            return true;
        }
    }

    // Under the gate.
    private void PutFillingInLine()
    {
        (_ready ??= []).Enqueue(_filling);
        _readyBytes += _filling.Ring.Length;
        _filling = _spares is not null && _spares.TryPop(out SendRing? spare)
            ? spare
            : new SendRing(_settings.MaxSendBytes, _sender.SendPool);
    }
}
