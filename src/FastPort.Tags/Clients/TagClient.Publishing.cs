using FastPort.Protocol;
using FastPort.Tags.Messages;
using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <content>Publishing tags.</content>
public sealed partial class TagClient
{
    // Keeps a request far below the smallest usual frame limit.
    private const int TagsPerDeclare = 1000;

    // Of a tag in a request: its field and length.
    private const int TagHeaderBytes = 6;

    /// <summary>
    /// Publishes tags of a source: the server's other clients, and OPC UA clients of a bridge, can read, write and subscribe to them. The
    /// tags belong to the client's <see cref="FastPort.FastPortClientOptions.RoutingId"/>.
    /// </summary>
    /// <param name="source">The source, for example a <see cref="MemoryTagSource"/> whose values the program sets.</param>
    /// <param name="options">Which tags. Defaults to all.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <returns>The publication; <see cref="TagPublication.Statuses"/> shows which tags the server has accepted.</returns>
    /// <exception cref="InvalidOperationException">The client has no routing id.</exception>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public async ValueTask<TagPublication> PublishAsync(
        ITagSource source, TagPublicationOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(source);
        options ??= new TagPublicationOptions();
        if (_options.RoutingId.Length == 0)
        {
            throw new InvalidOperationException(
                "Tags are published only with a routing id; set RoutingId in the client's options before it connects.");
        }

        string[] names = [.. options.Names ?? await BrowseAllAsync(source, cancellationToken).ConfigureAwait(false)];
        var publication = new TagPublication(this, source, names, options.Interval);
        lock (_gate)
        {
            _publications.Add(publication);
        }

        try
        {
            Session session = await SessionAsync(cancellationToken).ConfigureAwait(false);
            await DeclareAsync(publication, session, cancellationToken).ConfigureAwait(false);
            await publication.FeedAsync(cancellationToken).ConfigureAwait(false);
            return publication.IsEnded ? throw Closed() : publication;
        }
        catch
        {
            await publication.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    async ValueTask<ITagPublication> ITagClient.PublishAsync(
        ITagSource source, TagPublicationOptions? options, CancellationToken cancellationToken) =>
        await PublishAsync(source, options, cancellationToken).ConfigureAwait(false);

    /// <summary>Whether it closes its connection, or has done so.</summary>
    internal bool IsClosing => _closing.IsCancellationRequested;

    /// <summary>The time for a request as timers accept it: zero, or more than their maximum of 49 days, means no limit.</summary>
    internal TimeSpan RequestTimeoutForWait =>
        _options.RequestTimeout <= TimeSpan.Zero || _options.RequestTimeout.TotalMilliseconds >= uint.MaxValue - 1
            ? Timeout.InfiniteTimeSpan
            : _options.RequestTimeout;

    /// <summary>Completes a publication on a session.</summary>
    internal void DeclareAgain(TagPublication publication, Session session) =>
        _ = Task.Run(() => DeclareAgainAsync(publication, session));

    internal void Forget(TagPublication publication)
    {
        lock (_gate)
        {
            _publications.Remove(publication);
        }
    }

    private static async Task<List<string>> BrowseAllAsync(ITagSource source, CancellationToken cancellationToken)
    {
        List<string> names = [];
        var paths = new Queue<string>([string.Empty]);
        while (paths.TryDequeue(out string? path))
        {
            List<TagBrowseNode> nodes = [];
            await source.BrowseAsync(path, nodes, cancellationToken).ConfigureAwait(false);
            names.AddRange(nodes.Where(static node => node.Kind == TagBrowseKind.Tag).Select(static node => node.Name));
            nodes.FindAll(static node => node.HasChildren).ForEach(node => paths.Enqueue(node.Name));
        }

        return names;
    }

    // Once per session: both the program's call and the reconnect may get here.
    private async Task DeclareAsync(TagPublication publication, Session session, CancellationToken cancellationToken)
    {
        await publication.Declaring.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            if (!publication.IsEnded && !publication.IsOn(session))
            {
                await DeclareAllAsync(publication, session, cancellationToken).ConfigureAwait(false);
            }
        }
        finally
        {
            publication.Declaring.Release();
        }
    }

    private async Task DeclareAllAsync(TagPublication publication, Session session, CancellationToken cancellationToken)
    {
        TagInfo?[] infos = await publication.ResolveAsync(cancellationToken).ConfigureAwait(false);
        var handles = new uint[infos.Length];
        var statuses = new TagStatus[infos.Length];
        Array.Fill(statuses, TagStatus.BadNodeIdUnknown);
        List<(int Place, DeclaredTag Tag)> part = [];
        int size = 0;
        for (int place = 0; place < infos.Length; place++)
        {
            if (infos[place] is not { } info)
            {
                continue;
            }

            DeclaredTag tag = Describe(info);
            int bytes = tag.CalculateSize() + TagHeaderBytes;
            if (bytes > session.MaxBodyBytes)
            {
                statuses[place] = TagStatus.BadInvalidArgument;
                continue;
            }

            if (part.Count == TagsPerDeclare || size + bytes > session.MaxBodyBytes)
            {
                await DeclareAsync(session, part, handles, statuses, cancellationToken).ConfigureAwait(false);
                part.Clear();
                size = 0;
            }

            part.Add((place, tag));
            size += bytes;
        }

        if (part.Count != 0)
        {
            await DeclareAsync(session, part, handles, statuses, cancellationToken).ConfigureAwait(false);
        }

        publication.Accept(session, handles, statuses);
    }

    private async Task DeclareAsync(
        Session session,
        List<(int Place, DeclaredTag Tag)> part,
        uint[] handles,
        TagStatus[] statuses,
        CancellationToken cancellationToken)
    {
        var request = new DeclareTags { Tags = { part.Select(static one => one.Tag) } };
        bool isRead = await session.RequestAsync(
            TagMessageType.Declare,
            new ProtobufBody(request),
            (scoped in InboundReply reply) =>
            {
                DeclaredTags declared = DeclaredTags.Parser.ParseFrom(reply.Body);
                var own = new TagStatus[part.Count];
                if (declared.Handles.Count != part.Count || !TagMessages.TrySpread([.. declared.Statuses], own))
                {
                    return false;
                }

                for (int i = 0; i < own.Length; i++)
                {
                    (handles[part[i].Place], statuses[part[i].Place]) = (declared.Handles[i], own[i]);
                }

                return true;
            },
            _options.RequestTimeout,
            cancellationToken).ConfigureAwait(false);
        if (!isRead)
        {
            throw new InvalidDataException("The server's reply to a Declare has a different number of tags.");
        }
    }

    // Until the tags are declared on a session, which may have ended in the meantime, and the feed has been asked for them. The obstacle
    // may be gone the next time.
    private async Task DeclareAgainAsync(TagPublication publication, Session session)
    {
        while (!session.IsClosed && !_closing.IsCancellationRequested && !publication.IsEnded)
        {
            try
            {
                await DeclareAsync(publication, session, _closing.Token).ConfigureAwait(false);
                await publication.FeedAsync(_closing.Token).ConfigureAwait(false);
                return;
            }
            catch (Exception)
            {
                await Task.Delay(RetryDelay, _closing.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    // A write of one of the server's clients, for tags that were declared on this session.
    private async ValueTask OnWriteAsync(RequestContext context)
    {
        var message = new TagRequestMessage();
        if (!message.TryReadWrite(context.Body.Span))
        {
            context.Fail(
                ErrorCode.MalformedBody,
                "The body is not a WriteTags message with a row for each handle, or a number is beyond the range of its type.");
            return;
        }

        TagPublication[] publications;
        lock (_gate)
        {
            publications = [.. _publications];
        }

        var statuses = new TagStatus[message.Handles.Length];
        Array.Fill(statuses, TagStatus.BadHandleInvalid);
        foreach (TagPublication publication in publications)
        {
            List<int> rows = [];
            List<int> tags = [];
            var values = new TagSamples();
            for (int i = 0; i < statuses.Length; i++)
            {
                if (publication.Find(context.Session, message.Handles[i]) is { } tag)
                {
                    rows.Add(i);
                    tags.Add(tag);
                    values.Add(message.Samples, i);
                }
            }

            TagStatus[] written = rows.Count == 0 ? []
                : await publication.WriteAsync(tags, values, context.Aborted).ConfigureAwait(false);
            for (int i = 0; i < written.Length; i++)
            {
                statuses[rows[i]] = written[i];
            }
        }

        context.Reply(new WrittenTagsBody(statuses));
    }

    private static DeclaredTag Describe(TagInfo info) => new()
    {
        Name = info.Name,
        Type = (uint)info.Type,
        Rank = info.Rank,
        Access = (info.IsReadable ? 1u : 0) | (info.IsWritable ? 2u : 0),
        Unit = info.Unit,
        HasRange = info.Range is not null,
        Low = info.Range?.Low ?? 0,
        High = info.Range?.High ?? 0,
        Description = info.Description,
    };
}
