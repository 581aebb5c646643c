using FastPort.Connections;

namespace FastPort.Transports;

/// <content>What was read, and how reading failed. Only the loop calls this.</content>
internal abstract partial class TransportConnection
{
    /// <summary>Offers one burst to the protocol; on the loop.</summary>
    protected void OfferTo(ArrayPoolCircularBuffer input)
    {
        // Before the call, so that a tick sees the received bytes however long the protocol takes. The transport requests a tick again for
        // later changes.
        RequestTick();
        try
        {
            Set(ReadFlags.Paused, Protocol!.OnReceived(input) == ReceiveOutcome.Pause);
        }
        catch (Exception e)
        {
            // Here, where it is certain that the protocol threw and not the transport. The protocol is called no more.
            Set(ReadFlags.Paused);
            Fault(e);
        }

        NoContext.Restore();
    }

    /// <summary>Drops the input while closing: only the end of the peer's stream matters.</summary>
    protected void DropInput(ArrayPoolCircularBuffer input)
    {
        Set(ReadFlags.Paused, false);
        input.Consume(input.Length);
    }

    /// <summary>Reports the end of the peer's stream to the protocol, once; on the loop.</summary>
    protected void ReportInputEnd(bool hasUnread)
    {
        if (!Has(ReadFlags.InputEndReported) && !IsClosing)
        {
            Set(ReadFlags.InputEndReported);
            try
            {
                Protocol!.OnInputEnded(hasUnread);
            }
            catch (Exception e)
            {
                Fault(e);
            }

            NoContext.Restore();
        }
    }

    /// <summary>Reading threw, outside the protocol's calls. The caller ends the connection.</summary>
    protected void ReadFault(Exception e)
    {
        TransportLog.ReadFault(Settings.Logger, Id, e);
        Abort(new CloseReason(CloseKind.Internal, "Reading threw; see the log.", Exception: e));
    }
}
