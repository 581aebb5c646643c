using System.Runtime.InteropServices;

namespace FastPort.Tags;

/// <content>Feeds: each change is reported at once, under the source's gate.</content>
public sealed partial class MemoryTagSource
{
    private sealed class Feed(MemoryTagSource source, TimeSpan interval, ITagFeedListener listener) : ITagFeed
    {
        // The memory of larger changes does not stay for the next ones.
        private const int MaxKeptBytes = 64 * 1024;

        private readonly HashSet<int> _tags = [];
        private readonly List<int> _changed = [];
        private TagSamples _samples = new();

        public TimeSpan Interval => interval;

        // It reports nothing while nothing changes, so its reports do not confirm later values.
        public bool ConfirmsValues => false;

        public void Report(ReadOnlySpan<int> tags, TagSamples samples)
        {
            _changed.Clear();
            _samples = _samples.Cleared(MaxKeptBytes);
            for (int i = 0; i < tags.Length; i++)
            {
                if (_tags.Contains(tags[i]))
                {
                    _changed.Add(tags[i]);
                    _samples.Add(samples, i);
                }
            }

            if (_changed.Count != 0)
            {
                listener.OnChanges(CollectionsMarshal.AsSpan(_changed), _samples);
            }
        }

        public ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
        {
            lock (source._gate)
            {
                _tags.UnionWith(tags);
                var present = new TagSamples();
                foreach (int tag in tags)
                {
                    present.Add(source._entries[tag].Sample);
                }

                Report([.. tags], present);
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
