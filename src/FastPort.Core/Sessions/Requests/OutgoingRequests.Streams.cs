using System.Buffers;
using System.Diagnostics;
using FastPort.Framing;
using FastPort.Sessions.Logging;
using FastPort.Sessions.Streams;
using FastPort.Sessions.Tracing;

namespace FastPort.Sessions.Requests;

/// <content>Calls that stream. They stay outstanding until they end.</content>
internal sealed partial class OutgoingRequests
{
    // Loop only: the stream of the burst's previous item. Items often come one after the other, and a look-up takes a lock. A stream that
    // has ended since takes no item.
    private StreamReply? _stream;

    /// <summary>As <see cref="TrySend"/>, for a call that streams: Credit and the request are written together.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="flags">More if the requests are a stream.</param>
    /// <param name="body">The request; empty if the requests are a stream.</param>
    /// <param name="grant">The first grant for the reply items.</param>
    /// <param name="pending">The call.</param>
    /// <param name="timeout">Time to the first item; zero for no limit.</param>
    /// <param name="correlation">The call's correlation.</param>
    public SendStatus TryOpen<TBody>(
        ushort type, FrameFlags flags, scoped in TBody body, in CreditBody grant, StreamReply pending, TimeSpan timeout,
        out uint correlation)
        where TBody : IFrameBody
    {
        correlation = 0;
        if (Begin(type, pending, timeout) is var admitted && admitted != SendStatus.Queued)
        {
            return admitted;
        }

        SendStatus status;
        if (pending.WholeLeft > TimeSpan.Zero && output.CarriesCalls)
        {
            var limited = new DeadlineBody<TBody>(DeadlineBlock.Of(pending.WholeLeft), in body);
            status = WriteOpening(type, flags | FrameFlags.Deadline, in limited, grant, pending, out correlation);
        }
        else
        {
            status = WriteOpening(type, flags, in body, grant, pending, out correlation);
        }

        if (status == SendStatus.Queued)
        {
            output.FlushUnlessDeferred();
        }

        return status;
    }

    private SendStatus WriteOpening<TBody>(
        ushort type, FrameFlags flags, scoped in TBody body, in CreditBody grant, StreamReply pending, out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        if (Traces.IsOn && output.CarriesTraces && Traces.TryGetContext(out ActivityContext context))
        {
            var traced = new TracedBody<TBody>(context, in body);
            return output.WriteOpening(type, flags | FrameFlags.Trace, in traced, grant, pending, Outstanding, out correlation);
        }

        return output.WriteOpening(type, flags, in body, grant, pending, Outstanding, out correlation);
    }

    /// <summary>All requests of the call were sent. Any thread.</summary>
    public void EndRequests(StreamReply stream)
    {
        if (Outstanding.TryFind(stream.Correlation, stream.Type, out _))
        {
            output.WriteAndFlush(stream.Type, FrameFlags.None, stream.Correlation, default(EmptyBody));
        }
    }

    /// <summary>Ends a call that cannot continue here, and cancels it at the peer; nothing if it has ended. Any thread.</summary>
    public void Abandon(StreamReply stream, Exception failure)
    {
        if (!Outstanding.TryRemove(stream.Correlation, stream.Type, out _))
        {
            return;
        }

        SendCancel(stream.Correlation);
        try
        {
            NoContext.Run(static one => one.stream.Fail(one.failure), (stream, failure));
        }
        catch (Exception e)
        {
            SessionLog.PendingReplyFailed(settings.Logger, session, e);
        }

        FinishIfAllReplied();
    }

    /// <summary>The peer grants credit for the requests of one of this side's calls. Loop only.</summary>
    public void OnCredit(in CreditBody credit)
    {
        Debug.Assert(session.Connection.IsOnLoop);
        if (Outstanding.TryFind(credit.Correlation, null, out PendingReply? pending)
            && pending is StreamReply { Requests: { } requests } stream)
        {
            ResumeCallers();
            if (!requests.Grant(credit.Messages, credit.Bytes))
            {
                Abandon(
                    stream,
                    new RequestFailedException(ErrorCode.MalformedBody, "The peer has granted more credit than a stream may have."));
            }
        }
    }

    // An item for a call that has ended was under way: it is not counted as a reply to nothing.
    private void DeliverItem(in FrameHeader header, in ReadOnlySequence<byte> body, long received)
    {
        StreamReply? stream = _stream;
        if (stream is null || stream.Correlation != header.Correlation || stream.Type != header.Type)
        {
            if (!Outstanding.TryFind(header.Correlation, header.Type, out PendingReply? pending))
            {
                return;
            }

            stream = pending as StreamReply;
            if (stream is null)
            {
                RefuseItem(header, received);
                return;
            }

            _stream = stream;
        }

        ResumeCallers();
        Exception? failure = stream.OnItem(in body);
        if (!stream.HasItems)
        {
            stream.HasItems = true;
            Outstanding.SetDeadline(stream, stream.WholeDeadlineMilliseconds);
        }

        if (failure is not null)
        {
            Abandon(
                stream,
                failure is StreamViolationException broken ? new RequestFailedException(broken.Code, broken.Message) : failure);
        }

        NoContext.Restore();
    }

    // The peer answers a call for one reply with a stream.
    private void RefuseItem(in FrameHeader header, long received)
    {
        if (!Outstanding.TryRemove(header.Correlation, header.Type, out PendingReply? pending))
        {
            return;
        }

        SendCancel(header.Correlation);
        var error = new CodeBody(ErrorCode.MalformedBody, "The peer answered with a stream, and the call expects one reply.");
        byte[] body = new byte[error.Size];
        error.Write(body);
        var answer = new FrameHeader(
            (uint)(FrameHeader.MinimumLength + body.Length), header.Type, FrameFlags.Reply | FrameFlags.Error, FrameHeader.CurrentVersion,
            header.Correlation);
        ResumeCallers();
        Deliver(pending!, new InboundReply(answer, new ReadOnlySequence<byte>(body), default, received));
    }
}
