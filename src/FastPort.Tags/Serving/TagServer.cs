using System.Runtime.CompilerServices;
using FastPort.Tags.Serving;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.Tags;

/// <summary>
/// Serves tags of one or more sources to FastPort sessions: names to handles, reads from the cache or the source, ordered writes,
/// subscriptions, browsing and methods. Register its handlers with <see cref="TagHandlers.MapTags(MessageHandlers, TagServer)"/>. Safe from
/// any thread. Dispose it after the server has stopped; it does not dispose the sources.
/// </summary>
public sealed partial class TagServer : IAsyncDisposable
{
    private readonly ServedSource[] _sources;
    private readonly TagServerOptions _options;
    private readonly TimeProvider _time;
    private readonly TagMeter _meter;
    private readonly TagAuthorizer? _authorizer;
    private readonly ConditionalWeakTable<Session, TagSession> _sessions = [];

    // The tag of handle i at place i - 1. Grows under the lock; read without it.
    private readonly Lock _resolving = new();
    private ServedTag[] _tags = [];
    private volatile int _tagCount;

    /// <summary>Creates a tag server.</summary>
    /// <param name="sources">The sources of the tags. A name belongs to the first source that knows it.</param>
    /// <param name="options">Limits. Do not change them afterwards. Defaults to the default values.</param>
    /// <param name="loggerFactory">Creates the server's logger. Defaults to no logging.</param>
    /// <param name="time">The clock. Defaults to the system's.</param>
    /// <param name="latencies">
    /// Reports on the sources: the time of their calls, by source and operation, and counts by source. Usually those of the server
    /// (<c>FastPortServerComponents.LatencyStats</c>). Defaults to null: not reported.
    /// </param>
    /// <param name="authorizer">Decides on the sessions' access to tags. Defaults to null: every access is allowed.</param>
    /// <exception cref="FastPortOptionsException">An option is out of range.</exception>
    public TagServer(
        IEnumerable<ITagSource> sources,
        TagServerOptions? options = null,
        ILoggerFactory? loggerFactory = null,
        TimeProvider? time = null,
        LatencyStats? latencies = null,
        TagAuthorizer? authorizer = null)
    {
        ArgumentNullException.ThrowIfNull(sources);
        _options = options ?? new TagServerOptions();
        _options.Check();
        _time = time ?? TimeProvider.System;
        _authorizer = authorizer;
        ILogger logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<TagServer>();
        _sources = [.. sources.Select(source => new ServedSource(source, _options, logger, _time, latencies))];
        _meter = new TagMeter(_sources);
    }

    /// <summary>Closes all feeds.</summary>
    public async ValueTask DisposeAsync()
    {
        Array.ForEach(_sources, static source => source.Stop());
        await Task.WhenAll(_sources.Select(static source => source.Feeds.CloseAsync())).ConfigureAwait(false);
        _meter.Dispose();
    }

    private TagSession SessionOf(Session session)
    {
        if (_sessions.TryGetValue(session, out TagSession? known))
        {
            return known;
        }

        var made = new TagSession(_authorizer is null ? null : new TagPermissions(_authorizer, session));
        TagSession kept = _sessions.GetValue(session, _ => made);
        if (kept == made)
        {
            _ = NoContext.Start(() => EndWithAsync(session, made));
        }

        return kept;
    }

    private static async Task EndWithAsync(Session session, TagSession state)
    {
        await session.Closed.ConfigureAwait(false);
        await EndAsync(state.End()).ConfigureAwait(false);
    }

    private static ValueTask EndAsync(ServedSubscription subscription) => EndAsync([subscription]);

    // None of them keeps samples while a source takes its time.
    private static async ValueTask EndAsync(IReadOnlyList<ServedSubscription> subscriptions)
    {
        foreach (ServedSubscription subscription in subscriptions)
        {
            subscription.Dispose();
        }

        await SourceFeeds.RemoveAsync(subscriptions.SelectMany(static subscription => subscription.Items)).ConfigureAwait(false);
    }

    // The tag of a handle that the session has resolved and may use; null for others.
    private ServedTag? Find(TagSession session, uint handle, TagAccess access) =>
        session.HasResolved(handle) && session.Permissions?.Allow(handle, access) != false ? Volatile.Read(ref _tags)[handle - 1] : null;

    // Why there was no tag for a handle.
    private static TagStatus WhyNot(TagSession session, uint handle) =>
        session.HasResolved(handle) ? TagStatus.BadUserAccessDenied : TagStatus.BadHandleInvalid;

    // A new tag with its own interval is added to the tags to feed.
    private ServedTag Keep(ServedSource source, TagInfo info, List<ServedTag> fed)
    {
        lock (_resolving)
        {
            lock (source.Gate)
            {
                if (source.Find(info.Tag) is { } known)
                {
                    known.Info = info;
                    return known;
                }
            }

            if (_tagCount == _tags.Length)
            {
                ServedTag[] grown = _tags;
                Array.Resize(ref grown, Math.Max(64, 2 * grown.Length));
                Volatile.Write(ref _tags, grown);
            }

            ServedTag tag;
            lock (source.Gate)
            {
                tag = source.Add((uint)_tagCount + 1, info);
            }

            _tags[_tagCount] = tag;
            _tagCount++;

            if (info.Interval is not null)
            {
                fed.Add(tag);
            }

            return tag;
        }
    }

    private TimeSpan Timeout(uint milliseconds)
    {
        TimeSpan asked = milliseconds == 0 ? _options.RequestTimeout : TimeSpan.FromMilliseconds(milliseconds);
        return asked < _options.MaxRequestTimeout ? asked : _options.MaxRequestTimeout;
    }
}
