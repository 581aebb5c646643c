using FastPort.Tags.Wire;

namespace FastPort.Tags.Serving;

/// <summary>
/// Samples of a subscription that wait for an update, in the order in which they came: of each tag the last ones, as many as its queue
/// holds and as fit the bytes that all tags share. The latest sample of a tag is always kept. The subscription's gate guards it.
/// </summary>
internal sealed class WaitingSamples(int queueSize, long maxBytes)
{
    // Approximate bytes of a sample, without a value that is an object.
    private const int SampleBytes = 64;

    // The items, in the order of their samples. If a sample is dropped its place stays, for the item's next sample.
    private readonly Queue<SubscriptionItem> _places = new();
    private long _bytes;

    /// <summary>Number of samples.</summary>
    public int Count { get; private set; }

    /// <summary>
    /// Adds a sample of an item. Returns how many older ones were dropped for it; none count if only the latest ones are kept.
    /// </summary>
    public int Add(SubscriptionItem item, in TagSample sample)
    {
        // Objects may be shared with other subscriptions.
        long bytes = SampleBytes + sample.Value.ReferenceBytes;
        int dropped = 0;
        while (item.Waiting.Count != 0 && (item.Waiting.Count >= queueSize || _bytes + bytes > maxBytes))
        {
            Remove(item);
            dropped++;
        }

        item.Waiting.Enqueue((sample, bytes));
        Count++;
        _bytes += bytes;
        if (item.Places < item.Waiting.Count)
        {
            item.Places++;
            _places.Enqueue(item);
        }

        return queueSize > 1 ? dropped : 0;
    }

    /// <summary>Moves samples to an update, oldest first, while it has room for them.</summary>
    /// <param name="rows">The update.</param>
    /// <param name="limit">Maximum bytes of a message.</param>
    /// <param name="wanted">Maximum bytes of a message with several rows.</param>
    public void MoveTo(HandleRows rows, int limit, int wanted)
    {
        while (_places.TryPeek(out SubscriptionItem? item))
        {
            if (item.Waiting.TryPeek(out (TagSample Sample, long Bytes) oldest))
            {
                if (!rows.TryAdd(item.Tag.Id, oldest.Sample, limit, wanted))
                {
                    return;
                }

                Remove(item);
            }

            _places.Dequeue();
            item.Places--;
        }
    }

    public void Clear()
    {
        foreach (SubscriptionItem item in _places)
        {
            item.Waiting.Clear();
            item.Places = 0;
        }

        _places.Clear();
        _bytes = 0;
        Count = 0;
    }

    // The oldest sample of an item.
    private void Remove(SubscriptionItem item)
    {
        _bytes -= item.Waiting.Dequeue().Bytes;
        Count--;
    }
}
