using FastPort.Configuration;

namespace FastPort.Tags;

/// <summary>Limits of a <see cref="TagServer"/>, which checks them when it is created. Not changed after that.</summary>
public sealed class TagServerOptions
{
    /// <summary>Time for a request that specifies none. Defaults to 5 s.</summary>
    public TimeSpan RequestTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Longest time that a request can ask for. Defaults to 1 min.</summary>
    public TimeSpan MaxRequestTimeout { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Time after which the server stops waiting for a source's answer. Until then, a write or call that was answered with
    /// <see cref="TagStatus.BadTimeout"/> counts toward its session's <c>MaxConcurrency</c> requests. Defaults to 10 s.
    /// </summary>
    public TimeSpan SourceTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>Maximum number of concurrent reads of a source; further reads are combined into one. 1 or more. Defaults to 2.</summary>
    public int MaxConcurrentReads { get; set; } = 2;

    /// <summary>
    /// Maximum number of concurrent writes of a source, or of each of its devices (<see cref="TagInfo.Device"/>); further writes are
    /// combined into one. 1 or more. Defaults to 4.
    /// </summary>
    public int MaxConcurrentWrites { get; set; } = 4;

    /// <summary>Maximum number of tags or names in a request. Defaults to 100,000.</summary>
    public int MaxTagsPerRequest { get; set; } = 100_000;

    /// <summary>Maximum number of subscriptions of a session. Defaults to 100.</summary>
    public int MaxSubscriptionsPerSession { get; set; } = 100;

    /// <summary>Maximum number of tags in all subscriptions of a session together. Defaults to 100,000.</summary>
    public int MaxSubscribedTagsPerSession { get; set; } = 100_000;

    /// <summary>Maximum number of samples of a tag that may wait for an update. Defaults to 100.</summary>
    public int MaxQueueSize { get; set; } = 100;

    /// <summary>
    /// Maximum size of the samples that wait in one subscription, in bytes of memory, about 64 for a number. If it is reached, the oldest
    /// samples of the tag that has changed are dropped; the latest sample of each tag is always kept. Defaults to 4 MiB.
    /// </summary>
    public int MaxQueueBytes { get; set; } = 4 * 1024 * 1024;

    /// <summary>Shortest interval of updates. Defaults to 10 ms.</summary>
    public TimeSpan MinInterval { get; set; } = TimeSpan.FromMilliseconds(10);

    /// <summary>Interval of updates for a subscription that specifies none. Defaults to 1 s.</summary>
    public TimeSpan DefaultInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>Maximum number of nodes in a reply to Browse. Defaults to 1,000.</summary>
    public int MaxNodesPerBrowse { get; set; } = 1000;

    /// <exception cref="FastPortOptionsException">A value is out of range.</exception>
    internal void Check()
    {
        List<string> problems = [];
        OptionSection.Visit(nameof(TagServerOptions), problems, configured: null, Describe);
        if (problems.Count != 0)
        {
            throw new FastPortOptionsException(problems);
        }
    }

    private void Describe(OptionSection section)
    {
        TimeSpan shortest = TimeSpan.FromMilliseconds(1);
        TimeSpan longest = TimeSpan.FromDays(1);
        RequestTimeout = section.Time(nameof(RequestTimeout), RequestTimeout, shortest, longest);
        MaxRequestTimeout = section.Time(nameof(MaxRequestTimeout), MaxRequestTimeout, shortest, longest);
        SourceTimeout = section.Time(nameof(SourceTimeout), SourceTimeout, shortest, longest);
        MaxConcurrentReads = section.Number(nameof(MaxConcurrentReads), MaxConcurrentReads, 1, int.MaxValue);
        MaxConcurrentWrites = section.Number(nameof(MaxConcurrentWrites), MaxConcurrentWrites, 1, int.MaxValue);
        MaxTagsPerRequest = section.Number(nameof(MaxTagsPerRequest), MaxTagsPerRequest, 1, int.MaxValue);
        MaxSubscriptionsPerSession = section.Number(nameof(MaxSubscriptionsPerSession), MaxSubscriptionsPerSession, 0, int.MaxValue);
        MaxSubscribedTagsPerSession = section.Number(nameof(MaxSubscribedTagsPerSession), MaxSubscribedTagsPerSession, 0, int.MaxValue);
        MaxQueueSize = section.Number(nameof(MaxQueueSize), MaxQueueSize, 1, int.MaxValue);
        MaxQueueBytes = section.Number(nameof(MaxQueueBytes), MaxQueueBytes, 0, int.MaxValue);
        MinInterval = section.Time(nameof(MinInterval), MinInterval, TimeSpan.Zero, longest);
        DefaultInterval = section.Time(nameof(DefaultInterval), DefaultInterval, shortest, longest);
        MaxNodesPerBrowse = section.Number(nameof(MaxNodesPerBrowse), MaxNodesPerBrowse, 1, int.MaxValue);
    }
}
