using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Dispatch.Streams;
using FastPort.Framing;
using FastPort.Sessions.Tracing;

namespace FastPort.Dispatch;

/// <content>Calls that stream. Their handlers start on the pool when the calls arrive; they take no place in the queue.</content>
internal sealed partial class RequestDispatcher
{
    // Made for the first stream: most sessions open none.
    private OpenStreams? _streams;

    // The announcement of the call that the next request opens; null if none is announced.
    private CreditBody? _opening;

    // The call of the burst's previous item: items often come one after the other, and a look-up takes a lock. A call that has ended since
    // takes no item.
    private StreamCall? _itemsOf;

    /// <summary>The streams that the peer has open; null if it never had one. For tests.</summary>
    internal OpenStreams? Streams => _streams;

    public override bool TryDispatchItem(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        if (_opening is { } opening)
        {
            if (opening.Correlation == header.Correlation)
            {
                return TryOpen(Find(header.Type), header, input, received, opening);
            }

            _opening = null;
        }

        if (_itemsOf is null || _itemsOf.Correlation != header.Correlation)
        {
            _itemsOf = _streams?.Find(header.Correlation);
        }

        if (_itemsOf is { } call && call.Type == header.Type)
        {
            protocol.Requests.ResumeCallers();
            call.OnItem(input.GetReadableSequence(header.BodyOffset, header.BodySize));
            NoContext.Restore();
        }

        // Otherwise the item was under way when its call ended.
        return true;
    }

    public override void OnCredit(in CreditBody credit)
    {
        if (credit.Of == CreditOf.Opening)
        {
            // The next request is looked at.
            _opening = credit;
            _direct = null;
        }
        else if (_streams?.Find(credit.Correlation) is { } call)
        {
            protocol.Requests.ResumeCallers();
            call.OnCredit(credit);
        }
    }

    public override void EndStreams(ErrorCode code)
    {
        foreach (StreamCall call in _streams?.ToArray() ?? [])
        {
            call.Abort(code, "This session is closing; the stream was ended.");
        }
    }

    // A request without More, of a type that streams or after an announcement. False to see it again after a resume.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryDispatchStream(HandlerEntry? handler, in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        if (_opening is { } opening)
        {
            return TryOpen(handler, header, input, received, opening);
        }

        if (!header.IsOneWay && _streams?.Find(header.Correlation) is { } call && call.Type == header.Type)
        {
            protocol.Requests.ResumeCallers();
            call.OnRequestsEnd(header.BodySize);
        }
        else if (header.IsOneWay || header.BodySize != 0 || _streams?.IsUnderWay(header.Correlation) != true)
        {
            _output.Refuse(
                header, received, ErrorCode.MalformedBody,
                $"Message type 0x{header.Type:X4} is a stream: the extension and a Credit message open it.");
        }

        return true;
    }

    private bool TryOpen(
        HandlerEntry? handler, in FrameHeader header, ArrayPoolCircularBuffer input, long received, in CreditBody opening)
    {
        if (_end.RefusesRequests || (handler is null && header.Type > ControlType.Credit))
        {
            _opening = null;
            Refuse(header, received, isKnown: handler is not null);
            return true;
        }

        if (WhyNotOpened(handler, header, opening) is { } problem)
        {
            _opening = null;
            _output.Refuse(header, received, ErrorCode.MalformedBody, problem);
            return true;
        }

        if (_gate is not null && !Admits(_gate, handler!, header, input, received, out bool refused))
        {
            _opening = refused ? null : _opening;
            return refused;
        }

        _opening = null;
        _itemsOf = null;
        _streams ??= new OpenStreams(_settings.Options.MaxStreams);
        if (_streams.Find(header.Correlation) is { } other)
        {
            // The error ends the call that has this correlation.
            other.Abort(ErrorCode.MalformedBody, "The correlation of an open stream was used again.");
        }
        else if (!_streams.HasRoom)
        {
            _output.Refuse(
                header, received, ErrorCode.Overloaded,
                $"This session has {_settings.Options.MaxStreams} open streams, as many as it may have.");
        }
        else
        {
            Open(handler!, header, input, received, opening);
        }

        return true;
    }

    private static string? WhyNotOpened(HandlerEntry? handler, in FrameHeader header, in CreditBody opening)
    {
        bool isStream = (header.Flags & FrameFlags.More) != 0;
        return handler?.Stream is not { } stream ? $"Message type 0x{header.Type:X4} is no stream: call it without More and Credit."
            : stream.ReadsItems != isStream
                ? $"The requests of message type 0x{header.Type:X4} are {(stream.ReadsItems ? "a stream" : "one message")}."
            : isStream && header.BodySize != 0 ? "The request that opens a stream of requests has an empty body."
            : opening.Messages > int.MaxValue || opening.Bytes > int.MaxValue ? "More credit was granted than a stream may have."
            : null;
    }

    private void Open(
        HandlerEntry handler, in FrameHeader header, ArrayPoolCircularBuffer input, long received, in CreditBody opening)
    {
        Activity? activity = Traces.IsOn ? Trace(handler, header, input) : null;
        var call = new StreamCall(
            protocol, _streams!, handler, header,
            RentedBuffer.CopyOf(input.GetReadableSequence(header.BodyOffset, header.BodySize), _settings.Options.Pool), received,
            DeadlineBlock.Read(header, input), activity);
        _end.BeginWork();
        _settings.Telemetry.Counters.StreamOpened();
        _streams!.Add(call);
        call.Begin(opening);
    }
}
