namespace FastPort.Protocol.Tags.Sources;

/// <content>Feeds: each change is reported at once, under the source's gate.</content>
public sealed partial class MemoryTagSource
{
    private sealed class Feed(MemoryTagSource source, TimeSpan interval, ITagFeedListener listener) : ITagFeed
    {
        private readonly HashSet<int> _tags = [];
        private readonly TagSamples _samples = new();

        public TimeSpan Interval => interval;

        // It reports nothing while nothing changes, so what it has reported says nothing about later.
        public bool ConfirmsValues => false;

        public void Report(int tag, in TagSample sample)
        {
            if (_tags.Contains(tag))
            {
                _samples.Clear();
                _samples.Add(sample);
                listener.OnChanges([tag], _samples);
            }
        }

        public ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
        {
            lock (source._gate)
            {
                foreach (int tag in tags)
                {
                    _tags.Add(tag);
                    Report(tag, source._entries[tag].Sample);
                }
            }

            return ValueTask.CompletedTask;
        }

        public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
        {
            lock (source._gate)
            {
                _tags.ExceptWith(tags);
            }

            return ValueTask.CompletedTask;
        }

        public ValueTask DisposeAsync()
        {
            lock (source._gate)
            {
                source._feeds.Remove(this);
            }

            return ValueTask.CompletedTask;
        }
    }
}
