using FastPort.Connections;

namespace FastPort.Transports;

/// <content>What was read, and how reading failed. Only the loop calls this.</content>
internal abstract partial class TransportConnection
{
    /// <summary>Offers one burst to the protocol: the bytes, or the payloads of the frames in them. Called on the loop.</summary>
    protected void OfferTo(ArrayPoolCircularBuffer input)
    {
        if (Wire is { } wire)
        {
            // These bytes may hold no payload. Then the protocol is not called, and the last pause must not stay in force.
            Set(ReadFlags.Paused, false);
            wire.OnReceived(input);
        }
        else
        {
            OfferToProtocol(input);
        }
    }

    /// <summary>Offers bytes to the protocol; on the loop.</summary>
    /// <returns>False if the protocol pauses.</returns>
    internal bool OfferToProtocol(ArrayPoolCircularBuffer input)
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
        return !Has(ReadFlags.Paused);
    }

    /// <summary>Pauses reading until the loop's other connections have had their turn; on the loop.</summary>
    internal void Yield()
    {
        Set(ReadFlags.Paused);
        ResumeReading();
    }

    /// <summary>Drops the input while closing: only the end of the peer's stream matters.</summary>
    protected void DropInput(ArrayPoolCircularBuffer input)
    {
        Set(ReadFlags.Paused, false);
        input.Consume(input.Length);
    }

    /// <summary>The peer's stream has ended; on the loop.</summary>
    protected void ReportInputEnd(bool hasUnread)
    {
        if (Wire is { } wire)
        {
            wire.OnInputEnded();
        }
        else
        {
            ReportInputEndToProtocol(hasUnread);
        }
    }

    /// <summary>Reports the end of the peer's bytes to the protocol, once; on the loop.</summary>
    internal void ReportInputEndToProtocol(bool hasUnread)
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
