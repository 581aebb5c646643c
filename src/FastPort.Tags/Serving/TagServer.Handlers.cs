using System.Buffers.Binary;
using System.Text;
using System.Text.Unicode;
using FastPort.Protocol;
using FastPort.Tags.Messages;
using FastPort.Tags.Serving;
using Google.Protobuf;
using Google.Protobuf.Collections;

namespace FastPort.Tags;

/// <content>The handlers of the messages.</content>
public sealed partial class TagServer
{
    // Maximum overhead in bytes of a node in addition to its message, and of a reply to Browse in addition to its nodes.
    private const int NodeHeaderBytes = 32;

    // Maximum of a method: each costs memory, even without a value.
    private const int MaxInputs = 1000;

    private static readonly TimeSpan MaxInterval = TimeSpan.FromDays(1);

    internal void Map(MessageHandlers handlers)
    {
        handlers.MapQueued(TagMessageType.Resolve, ResolveTags.Parser, ResolveAsync);
        handlers.MapQueued(TagMessageType.Read, ReadAsync, "ReadTags", beginsOnLoop: true);
        handlers.MapQueued(TagMessageType.Write, WriteAsync, "WriteTags", beginsOnLoop: true);
        handlers.MapQueued(TagMessageType.Subscribe, SubscribeTags.Parser, SubscribeAsync);
        handlers.MapQueued(TagMessageType.Unsubscribe, UnsubscribeTags.Parser, UnsubscribeAsync);
        handlers.MapInline(TagMessageType.Acknowledge, AcknowledgeUpdates.Parser, Acknowledge);
        handlers.MapQueued(TagMessageType.Browse, BrowseTags.Parser, BrowseAsync);
        handlers.MapQueued(TagMessageType.Call, CallMethod.Parser, CallAsync);
    }

    private async ValueTask<ResolvedTags> ResolveAsync(ResolveTags request, RequestContext context)
    {
        CheckCount(request.Names.Count);
        TagSession session = SessionOf(context.Session);
        var found = new ServedTag?[request.Names.Count];
        var access = new TagRights[found.Length];
        for (int i = 0; i < access.Length; i++)
        {
            access[i] = RightsOf(context.Session, request.Names[i]);
        }

        // For names that no source has: a source that has failed may have them.
        var missing = new TagStatus[found.Length];
        Array.Fill(missing, TagStatus.BadNodeIdUnknown);

        // A name that the session may not use is not looked up: the answer must not reveal whether the tag exists.
        List<int> rest = [.. Enumerable.Range(0, found.Length).Where(i => access[i] != TagRights.None)];
        foreach (ServedSource source in _sources.TakeWhile(_ => rest.Count != 0))
        {
            List<ServedTag> fed = [];
            var infos = new TagInfo?[rest.Count];
            TagStatus status = await source.ResolveAsync([.. rest.Select(i => request.Names[i])], infos).ConfigureAwait(false);
            if (!status.IsGood)
            {
                rest.ForEach(i => missing[i] = status);
                continue;
            }

            for (int i = 0; i < infos.Length; i++)
            {
                if (infos[i] is { } info)
                {
                    found[rest[i]] = Keep(source, info, fed);
                }
            }

            if (fed.Count != 0)
            {
                // Reads are answered in the meantime.
                _ = source.Feeds.KeepAsync(fed);
            }

            rest.RemoveAll(i => found[i] is not null);
        }

        var reply = new ResolvedTags();
        for (int i = 0; i < found.Length; i++)
        {
            if (found[i] is { } tag)
            {
                session.Resolve(tag.Id, request.Names[i] == tag.Info.Name ? tag.Info.Name : request.Names[i]);
            }

            reply.Tags.Add(access[i] == TagRights.None
                ? new ResolvedTag { Status = TagStatus.BadUserAccessDenied.Code }
                : found[i] is { } known ? Describe(known, access[i])
                : new ResolvedTag { Status = missing[i].Code });
        }

        return reply;
    }

    // If it is neither, the session has attempted to read.
    private TagRights RightsOf(Session session, string name)
    {
        if (_authorizer is null)
        {
            return TagRights.Read | TagRights.Write;
        }

        TagRights rights = (_authorizer(session, TagAccess.Read, name, isAttempt: false) ? TagRights.Read : 0)
            | (_authorizer(session, TagAccess.Write, name, isAttempt: false) ? TagRights.Write : 0);
        return rights == TagRights.None && _authorizer(session, TagAccess.Read, name, isAttempt: true) ? TagRights.Read : rights;
    }

    private async ValueTask<SubscribedTags> SubscribeAsync(SubscribeTags request, RequestContext context)
    {
        if (!context.Session.IsIdentified)
        {
            throw new RequestRefusedException(
                ErrorCode.Forbidden, "Updates are sent only to sessions that have said Hello; say Hello first.");
        }

        CheckCount(request.Handles.Count);
        TagSession session = SessionOf(context.Session);
        TimeSpan interval = request.IntervalMs == 0 ? _options.DefaultInterval : TimeSpan.FromMilliseconds(request.IntervalMs);
        interval = interval < _options.MinInterval ? _options.MinInterval : interval > MaxInterval ? MaxInterval : interval;
        int queueSize = (int)Math.Clamp(request.QueueSize, 1, (uint)_options.MaxQueueSize);
        ServedSubscription subscription = session.Add(
            id => new ServedSubscription(context.Session, id, interval, queueSize, _options.MaxQueueBytes, _time)
            {
                Tags = request.Handles.Count,
            },
            request.Handles.Count,
            _options) ?? throw new RequestRefusedException(
                ErrorCode.Overloaded,
                $"A session may have {_options.MaxSubscriptionsPerSession} subscriptions with {_options.MaxSubscribedTagsPerSession} "
                + "tags in total; end one first.");
        var items = new SubscriptionItem?[request.Handles.Count];
        var refused = new TagStatus[items.Length];
        try
        {
            int reviews;
            do
            {
                reviews = session.Permissions?.Reviews ?? 0;
                for (int i = 0; i < items.Length; i++)
                {
                    ServedTag? tag = Find(session, request.Handles[i], TagAccess.Read);
                    refused[i] = tag is null ? WhyNot(session, request.Handles[i]) : TagStatus.BadNotReadable;
                    items[i] = tag is { Info.IsReadable: true } ? new SubscriptionItem(subscription, tag) : null;
                }
            }
            while (!session.TrySetItems(subscription, [.. items.OfType<SubscriptionItem>()], reviews));

            foreach (IGrouping<ServedSource, SubscriptionItem> group in subscription.Items.GroupBy(static item => item.Tag.Owner))
            {
                await group.Key.Feeds.AddAsync(interval, group, context.Aborted).ConfigureAwait(false);
            }

            context.Aborted.ThrowIfCancellationRequested();
        }
        catch
        {
            // The request was canceled, or the authorizer threw. The client does not know the subscription, so it cannot end it.
            session.Remove(subscription.Id);
            await EndAsync(subscription).ConfigureAwait(false);
            throw;
        }

        var reply = new SubscribedTags { Subscription = subscription.Id, IntervalMs = (uint)interval.TotalMilliseconds };
        AddStatuses(reply.Statuses, [.. items.Select((item, i) => item?.Status ?? refused[i])]);
        context.Reply(new ProtobufBody(reply));
        subscription.Activate();
        if (session.Find(subscription.Id) is null)
        {
            // The session has ended, or the peer has ended the subscription by the number that it had to get, before the feeds had it.
            await EndAsync(subscription).ConfigureAwait(false);
        }

        return reply;
    }

    private async ValueTask UnsubscribeAsync(UnsubscribeTags request, RequestContext context)
    {
        ServedSubscription subscription = SessionOf(context.Session).Remove(request.Subscription) ?? throw new RequestRefusedException(
            ErrorCode.NotFound, $"The session has no subscription {request.Subscription}.");
        await EndAsync(subscription).ConfigureAwait(false);
    }

    private void Acknowledge(AcknowledgeUpdates message, Session session) =>
        SessionOf(session).Find(message.Subscription)?.Acknowledge(message.Number);

    // Nothing is kept from one page to the next: the sources are asked again, and what was sent is left out.
    private async ValueTask<BrowsedTags> BrowseAsync(BrowseTags request, RequestContext context)
    {
        var reply = new BrowsedTags();
        string path = request.Path;
        int sent = 0;
        if (request.Cursor.Length != 0 && !TryReadCursor(request.Cursor.Span, out path, out sent))
        {
            reply.Status = TagStatus.BadContinuationPointInvalid.Code;
            return reply;
        }

        // The answer must not reveal nodes that the session may not see.
        if (path.Length != 0 && !IsVisible(path))
        {
            reply.Status = TagStatus.BadNodeIdUnknown.Code;
            return reply;
        }

        (TagStatus status, IReadOnlyList<TagBrowseNode> nodes) = await BrowseSourcesAsync(path).ConfigureAwait(false);
        reply.Status = status.Code;
        int most = (int)Math.Min((uint)_options.MaxNodesPerBrowse, request.Limit == 0 ? uint.MaxValue : request.Limit);
        int room = context.Session.MaxBodyBytes - sizeof(int) - Encoding.UTF8.GetByteCount(path);
        foreach (TagBrowseNode node in nodes.Where(node => IsVisible(node.Name)).Skip(sent))
        {
            var described = new TagNode
            {
                Name = node.Name,
                DisplayName = node.DisplayName,
                Kind = (TagNodeKind)node.Kind,
                HasChildren = node.HasChildren,
            };

            // With the reply's overhead in addition to the nodes. Nodes that do not fit come with the next reply.
            room -= described.CalculateSize() + NodeHeaderBytes;
            if (reply.Nodes.Count == most || (room < NodeHeaderBytes && reply.Nodes.Count != 0))
            {
                reply.Cursor = CursorOf(path, sent + reply.Nodes.Count);
                break;
            }

            reply.Nodes.Add(described);
        }

        return reply;

        bool IsVisible(string name) => _authorizer?.Invoke(context.Session, TagAccess.Browse, name, isAttempt: false) != false;
    }

    // Number of the nodes that were sent, then the path. Only nodes that the session may see count: others must not be revealed.
    private static ByteString CursorOf(string path, int sent)
    {
        var cursor = new byte[sizeof(int) + Encoding.UTF8.GetByteCount(path)];
        BinaryPrimitives.WriteInt32LittleEndian(cursor, sent);
        Encoding.UTF8.GetBytes(path, cursor.AsSpan(sizeof(int)));
        return ByteString.CopyFrom(cursor);
    }

    private static bool TryReadCursor(ReadOnlySpan<byte> cursor, out string path, out int sent)
    {
        if (!BinaryPrimitives.TryReadInt32LittleEndian(cursor, out sent) || sent <= 0 || !Utf8.IsValid(cursor[sizeof(int)..]))
        {
            path = string.Empty;
            return false;
        }

        path = Encoding.UTF8.GetString(cursor[sizeof(int)..]);
        return true;
    }

    // The root has what all sources have there.
    private async ValueTask<(TagStatus Status, IReadOnlyList<TagBrowseNode> Nodes)> BrowseSourcesAsync(string path)
    {
        List<TagBrowseNode> nodes = [];
        TagStatus first = TagStatus.BadNodeIdUnknown;
        foreach (ServedSource source in _sources)
        {
            List<TagBrowseNode> found = [];
            (TagStatus status, bool isAbandoned) = await source.CallAsync(
                token => source.Source.BrowseAsync(path, found, token), "Browse").ConfigureAwait(false);
            if (status.IsGood && !isAbandoned)
            {
                nodes.AddRange(found);
            }

            first = first == TagStatus.BadNodeIdUnknown || status.IsGood ? status : first;
            if (path.Length != 0 && status.IsGood)
            {
                break;
            }
        }

        return (first, nodes);
    }

    private async ValueTask<MethodResult> CallAsync(CallMethod request, RequestContext context)
    {
        // First: a refused call costs no more than that.
        if (_authorizer?.Invoke(context.Session, TagAccess.Call, request.Name, isAttempt: true) == false)
        {
            return Result(TagStatus.BadUserAccessDenied, new TagSamples());
        }

        var inputs = new TagSamples();
        if (request.Inputs is { Count: > MaxInputs } many)
        {
            throw new RequestRefusedException(ErrorCode.Overloaded, $"The call has {many.Count} inputs; at most {MaxInputs} are allowed.");
        }

        if (request.Inputs is not null && !inputs.TryRead(request.Inputs.ToByteArray(), MaxInputs))
        {
            throw new RequestRefusedException(
                ErrorCode.MalformedBody,
                "The inputs are not valid TagSamples: the columns do not match the types, or a number is beyond the range of its type.");
        }

        TagStatus first = TagStatus.BadMethodInvalid;
        foreach (ServedSource source in _sources)
        {
            var outputs = new TagSamples();
            Task<(TagStatus Status, bool IsAbandoned)> calling = source.CallAsync(
                token => source.Source.CallAsync(request.Name, inputs, outputs, token), "Call").AsTask();
            await ((Task)calling).WaitAsync(Timeout(request.TimeoutMs), _time, context.Aborted)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (!calling.IsCompleted)
            {
                // Like an abandoned write, it keeps its place while the source executes it.
                MethodResult late = Result(TagStatus.BadTimeout, new TagSamples());
                context.Reply(new ProtobufBody(late));
                await calling.ConfigureAwait(false);
                return late;
            }

            (TagStatus status, bool isAbandoned) = await calling.ConfigureAwait(false);
            if (status == TagStatus.BadMethodInvalid)
            {
                continue;
            }

            first = status;
            if (status != TagStatus.BadNoCommunication)
            {
                return Result(status, isAbandoned ? new TagSamples() : outputs);
            }
        }

        return Result(first, new TagSamples());
    }

    private static MethodResult Result(TagStatus status, TagSamples outputs) =>
        new() { Status = status.Code, Outputs = Messages.TagSamples.Parser.ParseFrom(outputs.ToBytes()) };

    private static void AddStatuses(RepeatedField<uint> codes, TagStatus[] statuses)
    {
        if (statuses.AsSpan().IndexOfAnyExcept(TagStatus.Good) >= 0)
        {
            Array.ForEach(statuses, status => codes.Add(status.Code));
        }
    }

    private static ResolvedTag Describe(ServedTag tag, TagRights rights)
    {
        TagInfo info = tag.Info;
        return new ResolvedTag
        {
            Handle = tag.Id,
            Type = (uint)info.Type,
            Rank = info.Rank,
            Access = ((info.IsReadable ? 1u : 0) | (info.IsWritable ? 2u : 0)) & (uint)rights,
            Unit = info.Unit,
            HasRange = info.Range is not null,
            Low = info.Range?.Low ?? 0,
            High = info.Range?.High ?? 0,
            Description = info.Description,
        };
    }

    private void CheckCount(int count)
    {
        if (count > _options.MaxTagsPerRequest)
        {
            throw new RequestRefusedException(
                ErrorCode.Overloaded, $"The request has {count} tags; at most {_options.MaxTagsPerRequest} are allowed. Split it.");
        }
    }
}
