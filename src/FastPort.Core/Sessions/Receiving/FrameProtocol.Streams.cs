using System.Buffers;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions.Receiving;

/// <content>Frames of streams that are no replies: items of requests, and Credit. Runs on the loop.</content>
internal sealed partial class FrameProtocol
{
    // A request with More: the opening of a call, or an item of its requests. False to see it again after a resume.
    private bool DispatchItem(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        if (_refusesAll && !Dispatcher.HoldsFrame)
        {
            RefuseOverRate(header, received);
            return true;
        }

        return Dispatcher.TryDispatchItem(header, input, received);
    }

    private void OnCredit(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (!CreditBody.TryRead(body.IsSingleSegment ? body.FirstSpan : body.ToArray(), out CreditBody credit)
            || credit.Of > CreditOf.Opening)
        {
            Output.Refuse(header, received, ErrorCode.MalformedBody, "The body is not a Credit message.");
            return;
        }

        if (!header.IsOneWay)
        {
            Output.Reply(header, received, default(EmptyBody));
        }

        if (credit.Of == CreditOf.RequestItems)
        {
            Requests.OnCredit(credit);
        }
        else
        {
            Dispatcher.OnCredit(credit);
        }
    }

    // A stream may be endless: it would keep a stopping session open until the session's timeout.
    private void EndStreamsAfterGrace()
    {
        if (_end.IsGraceOver)
        {
            Dispatcher.EndStreams(ErrorCode.ShuttingDown);
        }
    }
}
