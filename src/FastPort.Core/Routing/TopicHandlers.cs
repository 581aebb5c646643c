using System.Buffers;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Telemetry;

namespace FastPort.Routing;

/// <summary>Handles Subscribe, Unsubscribe and Publish. Thread-safe.</summary>
internal sealed class TopicHandlers(RoutingOptions options, IMessageRouter router, TopicIndex topics, SessionCounters counters)
{
    public void Subscribe(ref InlineRequest request)
    {
        if (!TryReadPrefix(ref request, out ReadOnlySpan<byte> prefix))
        {
            return;
        }

        switch (topics.Subscribe(request.Session, prefix, TopicAudience.Peers))
        {
            case TopicChange.TooMany:
                request.Fail(
                    ErrorCode.Overloaded, $"This session is subscribed to {options.MaxTopicsPerSession} prefixes, the maximum.");
                break;
            case TopicChange.TooDeep:
                request.Fail(
                    ErrorCode.Overloaded,
                    $"With this prefix more than {TopicIndex.MaxNested} prefixes of this session would be nested.");
                break;
            case TopicChange.TooOften:
                TooOften(ref request);
                break;
        }
    }

    public void Unsubscribe(ref InlineRequest request)
    {
        // Unsubscribing from a prefix without a subscription succeeds.
        if (TryReadPrefix(ref request, out ReadOnlySpan<byte> prefix)
            && topics.Unsubscribe(request.Session, prefix, TopicAudience.Peers, limited: true) == TopicChange.TooOften)
        {
            TooOften(ref request);
        }
    }

    public void Publish(ref InlineRequest request)
    {
        if (!RoutedEnvelope.TryRead(request.Body, out RoutedEnvelope publication))
        {
            request.Fail(ErrorCode.MalformedBody, RoutedEnvelope.NotAPublication);
        }
        else if (publication.Address.Length > options.MaxTopicBytes)
        {
            TooLong(ref request, publication.Address.Length);
        }
        else if (publication.NeedsBuffer)
        {
            Publish(ref request, publication, stackalloc byte[TopicLimits.MaxBytes]);
        }
        else
        {
            Publish(ref request, publication, default);
        }
    }

    private void Publish(ref InlineRequest request, in RoutedEnvelope publication, scoped Span<byte> buffer)
    {
        if (!publication.TryGetAddress(buffer, out ReadOnlySpan<byte> topic))
        {
            request.Fail(ErrorCode.MalformedBody, "The topic is not valid UTF-8.");
            return;
        }

        var body = new RoutedBody(topic, publication.Type, publication.Body, RoutingIdentity.Of(request.Session)?.FromField);
        int size = body.Size;
        if (size > request.Session.MaxBodyBytes)
        {
            request.Fail(
                ErrorCode.MalformedBody,
                $"With 'from' added the message has {size} bytes; the frame limit allows {request.Session.MaxBodyBytes}.");
            return;
        }

        var before = request.Postponed as UnfinishedPublication;
        int next = before?.Next ?? 0;
        int now = router.Publish(topic, topics.AudienceOf(topic, TopicAudience.Peers), ControlType.Publish, in body, ref next);
        int sessions = (before?.Sessions ?? 0) + now;
        request.SpendTurn(now);
        if (next != 0)
        {
            // Reading of the session pauses, so its publications keep their order.
            request.Postpone(new UnfinishedPublication(next, sessions));
            return;
        }

        counters.Published(sessions);
        request.Reply(new DeliveredBody((uint)sessions));
    }

    private bool TryReadPrefix(ref InlineRequest request, out ReadOnlySpan<byte> prefix)
    {
        ReadOnlySequence<byte> body = request.Body;
        if (!TopicBody.TryRead(body.IsSingleSegment ? body.FirstSpan : body.ToArray(), out prefix))
        {
            request.Fail(ErrorCode.MalformedBody, "The body is not a valid Topic message.");
            return false;
        }

        if (prefix.Length > options.MaxTopicBytes)
        {
            TooLong(ref request, prefix.Length);
            return false;
        }

        return true;
    }

    /// <summary>A publication that continues after other connections of the loop had their turn.</summary>
    /// <param name="next">Where to continue.</param>
    /// <param name="sessions">Number of send queues that have accepted it so far.</param>
    private sealed class UnfinishedPublication(int next, int sessions) : Postponement(Task.CompletedTask, TimeSpan.Zero)
    {
        public int Next { get; } = next;

        public int Sessions { get; } = sessions;

        public override bool HasBegun => true;
    }

    private void TooOften(ref InlineRequest request) => request.Fail(
        ErrorCode.Overloaded,
        $"This session changes its subscriptions more than {options.MaxTopicChangesPerSecond} times per second; retry later.");

    private void TooLong(ref InlineRequest request, long bytes) =>
        request.Fail(ErrorCode.MalformedBody, $"The topic has {bytes} bytes in UTF-8; allowed: {options.MaxTopicBytes}.");
}
