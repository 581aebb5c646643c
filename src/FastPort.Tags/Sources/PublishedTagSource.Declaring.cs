using System.Diagnostics;
using System.Globalization;
using FastPort.Tags.Messages;
using FastPort.Tags.Sources;
using Google.Protobuf.Collections;

namespace FastPort.Tags;

/// <content>
/// Declarations. Loops take the gate for each push, so a request holds it for a few tags at a time, and asks the authorizer without it.
/// </content>
public sealed partial class PublishedTagSource
{
    // OPC UA servers answer a read of ArrayDimensions with this many numbers.
    private const int MaxRank = 16;

    // Tags that are declared, reviewed or lost under the gate at a time.
    private const int TagsAtATime = 200;

    private DeclaredTags Declare(Session session, DeclareTags request)
    {
        if (session.RoutingId.Length == 0)
        {
            throw new RequestRefusedException(
                ErrorCode.Forbidden, "Tags are published only by sessions with a routing id; say Hello with one first.");
        }

        var reply = new DeclaredTags();
        foreach (DeclaredTag[] tags in request.Tags.Chunk(TagsAtATime))
        {
            List<TagInfo>? declared;
            do
            {
                // The authorizer is asked outside the gate.
                int reviews = Volatile.Read(ref _reviews);
                TagStatus[] allowed = Array.ConvertAll(tags, tag => Check(session, tag));
                declared = TryDeclare(session, tags, allowed, reviews, reply);
            }
            while (declared is null);
            declared.ForEach(info => Declared?.Invoke(info));
        }

        OmitIfGood(reply.Statuses);
        return reply;
    }

    private TagStatus Check(Session session, DeclaredTag tag) =>
        !IsName(tag.Name) || Math.Max(tag.Unit.Length, tag.Description.Length) > _options.MaxTextLength
            || tag.Type > (uint)TagType.DiagnosticInfo || tag.Rank is < -2 or 0 or > MaxRank ? TagStatus.BadInvalidArgument
        : _authorizer?.Invoke(session, TagAccess.Publish, tag.Name, isAttempt: true) == false ? TagStatus.BadUserAccessDenied
        : TagStatus.Good;

    // Null if there was a review since the tags were checked.
    private List<TagInfo>? TryDeclare(Session session, DeclaredTag[] tags, TagStatus[] allowed, int reviews, DeclaredTags reply)
    {
        List<TagInfo> declared = [];
        lock (_gate)
        {
            if (_reviews != reviews)
            {
                return null;
            }

            if (!_publishers.TryGetValue(session, out TagPublisher? publisher))
            {
                _publishers.Add(session, publisher = new TagPublisher(session));
                _ = EndWithAsync(publisher);
            }

            foreach ((int i, DeclaredTag tag) in tags.Index())
            {
                TagInfo? info = null;
                TagStatus status = allowed[i].IsGood ? Declare(publisher, tag, out info) : allowed[i];
                reply.Statuses.Add(status.Code);
                reply.Handles.Add(info is null ? 0 : (uint)info.Tag + 1);
                if (info is not null)
                {
                    declared.Add(info);
                }
            }

            _tags.SetStatus([.. declared.Select(static info => info.Tag)], TagStatus.BadWaitingForInitialData);
        }

        return declared;
    }

    // Under the gate.
    private TagStatus Declare(TagPublisher publisher, DeclaredTag tag, out TagInfo? info)
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        info = null;
        var asked = new TagInfo(0, tag.Name)
        {
            Type = (TagType)tag.Type,
            Rank = tag.Rank,
            IsReadable = (tag.Access & 1) != 0,
            IsWritable = (tag.Access & 2) != 0,
            Unit = tag.Unit,
            Range = tag.HasRange ? (tag.Low, tag.High) : null,
            Description = tag.Description,

            // The server's cache has each push at once, so it also has values that were written without going through the server.
            Interval = TimeSpan.Zero,

            // A publisher that is stuck holds up no other.
            Device = publisher.Session.RoutingId,
        };
        TagInfo? present = _tags.Find(tag.Name);
        if (present is null)
        {
            TagOwner owner = _owners.GetValueOrDefault(publisher.Session.RoutingId) ?? new TagOwner(publisher.Session.RoutingId);
            if (_published.Count >= _options.MaxTags || owner.Tags >= _options.MaxTagsPerPublisher)
            {
                return TagStatus.BadTooManyOperations;
            }

            owner.Tags++;
            _owners[owner.RoutingId] = owner;
            present = _tags.Add(asked, TagSample.Bad(TagStatus.BadWaitingForInitialData));
            _published.Add(new PublishedTag(owner));
        }
        else if (_published[present.Tag].Owner.RoutingId != publisher.Session.RoutingId)
        {
            return TagStatus.BadNodeIdExists;
        }
        else if (present.Type != asked.Type || present.Rank != asked.Rank)
        {
            return TagStatus.BadTypeMismatch;
        }

        info = asked with { Tag = present.Tag };
        _published[info.Tag].Publisher = publisher;
        _published[info.Tag].IsForbidden = false;
        _tags.Update(info);
        return TagStatus.Good;
    }

    // Names appear in logs and are paths: folders must not be empty.
    private bool IsName(string name) =>
        name.Length <= _options.MaxNameLength
        && name.Split('/').All(static part => part.Length != 0)
        && !name.Any(static c => char.GetUnicodeCategory(c) is UnicodeCategory.Control or UnicodeCategory.Format
            or UnicodeCategory.LineSeparator or UnicodeCategory.ParagraphSeparator);

    private static void OmitIfGood(RepeatedField<uint> statuses)
    {
        if (statuses.All(static code => code == TagStatus.Good.Code))
        {
            statuses.Clear();
        }
    }
}
