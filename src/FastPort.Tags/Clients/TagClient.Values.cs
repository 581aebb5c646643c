using System.Collections.Concurrent;
using FastPort.Protocol;
using FastPort.Tags.Messages;
using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <content>Resolving, Read and Write.</content>
public sealed partial class TagClient
{
    private readonly ConcurrentDictionary<string, TagList> _single = new(StringComparer.Ordinal);

    /// <summary>Looks up names. Resolve names once, and use the list for the lifetime of the client.</summary>
    /// <param name="names">The names.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>The tags; <see cref="TagList.Infos"/> shows which names the server does not know.</returns>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public async ValueTask<TagList> ResolveAsync(IEnumerable<string> names, CancellationToken cancellationToken = default)
    {
        string[] all = [.. names];
        Session session = await SessionAsync(cancellationToken).ConfigureAwait(false);
        return new TagList(all, await ResolveAsync(session, all, cancellationToken).ConfigureAwait(false));
    }

    /// <summary>Reads tags.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="samples">
    /// Receives a row for each tag, in order, which replace its existing rows. A name that the server does not know, or that the client may
    /// not read, has the reason as its status. The client owns the samples until the call has ended. If they are reused, a call allocates
    /// no memory.
    /// </param>
    /// <param name="maxAge">
    /// Accepts values that were confirmed within this time, in whole milliseconds. Defaults to zero: values from the device.
    /// </param>
    /// <param name="timeout">Time after which tags without an answer get a bad status. Defaults to the server's, 5 s.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public async ValueTask ReadAsync(
        TagList tags,
        TagSamples samples,
        TimeSpan maxAge = default,
        TimeSpan timeout = default,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(tags);
        ArgumentNullException.ThrowIfNull(samples);
        TagList.Resolved resolved = await CurrentAsync(tags, cancellationToken).ConfigureAwait(false);
        bool isRead = await resolved.Session.RequestAsync(
            TagMessageType.Read,
            new ReadTagsBody(resolved.Handles, Milliseconds(maxAge), Milliseconds(timeout)),
            (scoped in InboundReply reply) =>
                Contiguous.Read(reply.Body, body => samples.TryRead(body, tags.Count) && samples.Count == tags.Count),
            Patience(timeout),
            cancellationToken).ConfigureAwait(false);
        if (!isRead)
        {
            throw new InvalidDataException(
                $"The server's reply to a Read of {tags.Count} tags is malformed, or has a different number of rows.");
        }

        for (int row = 0; resolved.Unknown != 0 && row < tags.Count; row++)
        {
            if (resolved.Handles[row] == 0)
            {
                samples.SetStatus(row, resolved.Statuses[row]);
            }
        }
    }

    /// <summary>Reads tags.</summary>
    /// <inheritdoc cref="ReadAsync(TagList, TagSamples, TimeSpan, TimeSpan, CancellationToken)"/>
    /// <returns>A row for each tag, in order.</returns>
    public async ValueTask<TagSamples> ReadAsync(
        TagList tags, TimeSpan maxAge = default, TimeSpan timeout = default, CancellationToken cancellationToken = default)
    {
        var samples = new TagSamples();
        await ReadAsync(tags, samples, maxAge, timeout, cancellationToken).ConfigureAwait(false);
        return samples;
    }

    /// <summary>Reads a tag. The client resolves each name once.</summary>
    /// <param name="name">The tag's name.</param>
    /// <param name="maxAge">Accepts a value that was confirmed within this time. Defaults to zero: the value from the device.</param>
    /// <param name="timeout">Time for the read. Defaults to the server's, 5 s.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>
    /// The sample; with <see cref="TagStatus.BadNodeIdUnknown"/> if there is no such tag,
    /// <see cref="TagStatus.BadUserAccessDenied"/> if the client may not read it.
    /// </returns>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public async ValueTask<TagSample> ReadAsync(
        string name, TimeSpan maxAge = default, TimeSpan timeout = default, CancellationToken cancellationToken = default)
    {
        TagList tag = await SingleAsync(name, cancellationToken).ConfigureAwait(false);
        return (await ReadAsync(tag, maxAge, timeout, cancellationToken).ConfigureAwait(false))[0];
    }

    /// <summary>Writes tags. Values must have the tags' types. Nothing is written twice, even after a lost connection.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="values">A row for each tag, in order; its value is written. Do not change it before the call has ended.</param>
    /// <param name="timeout">
    /// Time after which tags are answered with <see cref="TagStatus.BadTimeout"/>: it is then unknown whether they were written. Defaults
    /// to the server's, 5 s.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>A status for each tag, in order.</returns>
    /// <exception cref="ArgumentException">There are more or fewer rows than tags.</exception>
    /// <exception cref="RequestFailedException">
    /// The server answered with an error, or no reply came: it is then unknown whether the tags were written.
    /// </exception>
    public async ValueTask<TagStatus[]> WriteAsync(
        TagList tags, TagSamples values, TimeSpan timeout = default, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(tags);
        ArgumentNullException.ThrowIfNull(values);
        if (values.Count != tags.Count)
        {
            throw new ArgumentException($"There are {tags.Count} tags and {values.Count} values; give one for each.", nameof(values));
        }

        TagList.Resolved resolved = await CurrentAsync(tags, cancellationToken).ConfigureAwait(false);
        var statuses = new TagStatus[tags.Count];
        bool isRead = await resolved.Session.RequestAsync(
            TagMessageType.Write,
            new WriteTagsBody(resolved.Handles, values, Milliseconds(timeout)),
            (scoped in InboundReply reply) => Contiguous.Read(reply.Body, body => TagMessages.TryReadStatuses(body, 1, statuses)),
            Patience(timeout),
            cancellationToken).ConfigureAwait(false);
        return isRead ? WithReasons(resolved, statuses)
            : throw new InvalidDataException($"The server's reply to a Write of {tags.Count} tags is malformed.");
    }

    /// <summary>Writes a tag. The client resolves each name once.</summary>
    /// <param name="name">The tag's name.</param>
    /// <param name="value">The value; it must have the tag's type.</param>
    /// <param name="timeout">Time for the write. Defaults to the server's, 5 s.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// Whether it was written; <see cref="TagStatus.BadNodeIdUnknown"/> if there is no such tag,
    /// <see cref="TagStatus.BadUserAccessDenied"/> if the client may not write it.
    /// </returns>
    /// <exception cref="RequestFailedException">
    /// The server answered with an error, or no reply came: it is then unknown whether the tag was written.
    /// </exception>
    public async ValueTask<TagStatus> WriteAsync(
        string name, TagValue value, TimeSpan timeout = default, CancellationToken cancellationToken = default)
    {
        TagList tag = await SingleAsync(name, cancellationToken).ConfigureAwait(false);
        var values = new TagSamples();
        values.Add(value);
        return (await WriteAsync(tag, values, timeout, cancellationToken).ConfigureAwait(false))[0];
    }

    private static uint Milliseconds(TimeSpan time) => (uint)Math.Clamp(time.TotalMilliseconds, 0, uint.MaxValue);

    // A name without a handle: the reason is more useful than an invalid handle.
    private static TagStatus[] WithReasons(TagList.Resolved resolved, TagStatus[] statuses)
    {
        for (int i = 0; i < statuses.Length; i++)
        {
            statuses[i] = resolved.Handles[i] == 0 ? resolved.Statuses[i] : statuses[i];
        }

        return statuses;
    }

    private async Task<TagList.Resolved> ResolveAsync(Session session, string[] names, CancellationToken cancellationToken)
    {
        var request = new ResolveTags();
        request.Names.AddRange(names);
        ResolvedTags reply = await session.RequestAsync(
            TagMessageType.Resolve, request, ResolvedTags.Parser, _options.RequestTimeout, cancellationToken).ConfigureAwait(false);
        return reply.Tags.Count == names.Length
            ? new TagList.Resolved(
                session,
                [.. reply.Tags.Select(static tag => tag.Handle)],
                [.. reply.Tags.Select((tag, i) => InfoOf(tag, names[i]))],
                [.. reply.Tags.Select(static tag => new TagStatus(tag.Status))])
            : throw new InvalidDataException($"The server answered a Resolve of {names.Length} names with {reply.Tags.Count} tags.");
    }

    private static TagInfo? InfoOf(ResolvedTag tag, string name) => tag.Handle == 0 ? null : new TagInfo((int)tag.Handle, name)
    {
        Type = (TagType)tag.Type,
        Rank = tag.Rank,
        IsReadable = (tag.Access & 1) != 0,
        IsWritable = (tag.Access & 2) != 0,
        Unit = tag.Unit,
        Range = tag.HasRange ? (tag.Low, tag.High) : null,
        Description = tag.Description,
    };

    // The server has its own time limit; this one is for a server that does not answer.
    private TimeSpan Patience(TimeSpan timeout) =>
        timeout == TimeSpan.Zero ? _options.RequestTimeout : timeout + TimeSpan.FromSeconds(5);

    // Handles of the current session: a handle of another session may mean another tag in this one.
    private async ValueTask<TagList.Resolved> CurrentAsync(TagList tags, CancellationToken cancellationToken)
    {
        Session session = await SessionAsync(cancellationToken).ConfigureAwait(false);
        TagList.Resolved resolved = tags.Current;
        return resolved.Session == session && !resolved.IsDue ? resolved
            : await tags.ResolveAsync(session, (on, names) => ResolveAsync(on, names, CancellationToken.None))
                .WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    private async ValueTask<TagList> SingleAsync(string name, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (!_single.TryGetValue(name, out TagList? tag) || tag.Infos[0] is null)
        {
            tag = await ResolveAsync([name], cancellationToken).ConfigureAwait(false);
            _single[name] = tag;
        }

        return tag;
    }
}
