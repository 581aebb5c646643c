namespace FastPort.Redis.Relaying;

/// <summary>The batches of a link that were sent and are not confirmed yet. The link's lock guards it.</summary>
internal sealed class UnseenBatches
{
    private readonly Queue<SentBatch> _batches = new();

    public int Bytes { get; private set; }

    public void Add(in SentBatch batch)
    {
        _batches.Enqueue(batch);
        Bytes += batch.Bytes;
    }

    /// <summary>When the oldest was sent; null if there is none.</summary>
    public long? OldestSentAt => _batches.TryPeek(out SentBatch oldest) ? oldest.SentAt : null;

    /// <summary>Whether a batch is there.</summary>
    public bool Contains(ulong number) => _batches.Any(batch => batch.Number == number);

    /// <summary>
    /// The receiver has confirmed this batch. Earlier unconfirmed ones may be lost: they are given up in time. Returns when it was sent;
    /// null if it is not there.
    /// </summary>
    public long? Seen(ulong number)
    {
        if (_batches.TryPeek(out SentBatch first) && first.Number == number)
        {
            RemoveFirst();
            return first.SentAt;
        }

        return Remove(number);
    }

    /// <summary>Gives up the batches that were sent before a time.</summary>
    /// <param name="sentBefore">The time.</param>
    /// <param name="first">The number of the first.</param>
    /// <param name="last">The number of the last; 0 if there is none.</param>
    /// <returns>What was in them.</returns>
    public BatchContent GiveUp(long sentBefore, out ulong first, out ulong last)
    {
        first = last = 0;
        var content = default(BatchContent);
        while (_batches.TryPeek(out SentBatch batch) && batch.SentAt < sentBefore)
        {
            first = first == 0 ? batch.Number : first;
            last = batch.Number;
            content += batch.Content;
            RemoveFirst();
        }

        return content;
    }

    /// <summary>Removes a batch. Returns when it was sent; null if it is not there.</summary>
    public long? Remove(ulong number)
    {
        long? sentAt = null;
        for (int left = _batches.Count; left > 0; left--)
        {
            SentBatch batch = _batches.Peek();
            RemoveFirst();
            if (batch.Number != number)
            {
                Add(batch);
            }
            else
            {
                sentAt = batch.SentAt;
            }
        }

        return sentAt;
    }

    private void RemoveFirst() => Bytes -= _batches.Dequeue().Bytes;
}

/// <summary>A batch in transit.</summary>
/// <param name="Number">Its number.</param>
/// <param name="Bytes">Its length.</param>
/// <param name="Content">What is in it.</param>
/// <param name="SentAt">When it was sent, as a timestamp.</param>
internal readonly record struct SentBatch(ulong Number, int Bytes, BatchContent Content, long SentAt);
