using System.Diagnostics;
using System.Globalization;
using System.Threading.Channels;

namespace FastPort.Tags.Tests;

/// <summary>
/// A source whose calls wait until the test ends them. Tag "3" is tag number 3, whose value is its number; "3[2]" is a part of it, with
/// number 302. Feeds report what the test says.
/// </summary>
internal sealed class ControlledSource : ITagSource
{
    private readonly Channel<Call> _calls = Channel.CreateUnbounded<Call>();

    public event Action? ConnectionChanged
    {
        add { }
        remove { }
    }

    public string Name => "controlled";

    public bool IsConnected => true;

    /// <summary>Who hears of the feed's changes; null while none is open.</summary>
    public ITagFeedListener? Listener { get; private set; }

    /// <summary>Makes the feeds; null for those that report what the test says.</summary>
    public Func<TimeSpan, ITagFeedListener, ITagFeed>? Feeds { get; set; }

    /// <summary>Whether lookups say now that the tags can be written.</summary>
    public bool IsWritable { get; set; } = true;

    /// <summary>Whether lookups say now that the tags can be read.</summary>
    public bool IsReadable { get; set; } = true;

    /// <summary>Names that lookups do not know now. Replaced as a whole.</summary>
    public IReadOnlyCollection<string> Unknown { get; set; } = [];

    /// <summary>Calls a method; null if there is none.</summary>
    public Func<ValueTask<TagStatus>>? Method { get; set; }

    /// <summary>Number of calls so far.</summary>
    public int Count { get; private set; }

    /// <summary>The next call, when it has been made.</summary>
    public async Task<Call> NextAsync() => await _calls.Reader.ReadAsync().AsTask().WaitAsync(Loopback.Soon);

    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken)
    {
        for (int i = 0; i < names.Count; i++)
        {
            string[] numbers = names[i].Split('[', ']');
            int? whole = numbers.Length == 1 ? null : int.Parse(numbers[0], CultureInfo.InvariantCulture);
            int tag = whole is { } number ? (100 * number) + int.Parse(numbers[1], CultureInfo.InvariantCulture)
                : int.TryParse(names[i], out int one) ? one : -1;
            tags.Span[i] = tag < 0 || Unknown.Contains(names[i]) ? null
                : new TagInfo(tag, names[i])
                {
                    Type = TagType.Int32,
                    Rank = -1,
                    IsReadable = IsReadable,
                    IsWritable = IsWritable,
                    PartOf = whole,
                };
        }

        return ValueTask.CompletedTask;
    }

    public async ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
    {
        TagStatus status = await BeginAsync([.. tags], values: []);
        foreach (int tag in status.IsGood ? tags : [])
        {
            samples.Add(tag);
        }

        return status;
    }

    public async ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken) =>
        await BeginAsync([.. tags], [.. Enumerable.Range(0, values.Count).Select(row => values[row].Value.Get<int>())]);

    public ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken)
    {
        Listener = listener;
        return new(Feeds?.Invoke(interval, listener) ?? new SilentFeed(interval));
    }

    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
        new(TagStatus.BadNodeIdUnknown);

    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
        Method?.Invoke() ?? new(TagStatus.BadMethodInvalid);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private Task<TagStatus> BeginAsync(int[] tags, int[] values)
    {
        var end = new TaskCompletionSource<TagStatus>(TaskCreationOptions.RunContinuationsAsynchronously);
        var call = new Call(tags, values, end, Activity.Current);
        Count++;
        _calls.Writer.TryWrite(call);
        return call.End.Task;
    }

    /// <summary>A feed that reports nothing by itself. Its end is told, if somebody wants to know.</summary>
    internal sealed class SilentFeed(TimeSpan interval, TaskCompletionSource? closed = null) : ITagFeed
    {
        public TimeSpan Interval => interval;

        public bool ConfirmsValues => false;

        public ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken) => default;

        public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken) => default;

        public ValueTask DisposeAsync()
        {
            closed?.TrySetResult();
            return default;
        }
    }

    /// <summary>A call: its tags, the values of a write, its end, and the activity under which it was made.</summary>
    internal sealed record Call(int[] Tags, int[] Values, TaskCompletionSource<TagStatus> End, Activity? Cause);
}
