using FastPort.Connections;

namespace FastPort.Transports.Layers;

/// <content>Reading: unwraps what arrives and offers it to the protocol. Only the loop runs this code.</content>
internal abstract partial class LayeredConnection
{
    private readonly ReceiveBuffer _data;
    private bool _offers;
    private bool _inBurst;

    // The turn has ended, perhaps with pieces that are not unwrapped: a resumption is under way.
    private bool _yielded;

    protected sealed override long Received => _data.BytesReceived;

    /// <summary>The bytes for the protocol.</summary>
    protected ReceiveBuffer Data => _data;

    /// <summary>Whether the loop is within a burst, at whose end everything is flushed.</summary>
    protected bool InBurst => _inBurst;

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        if (IsClosing)
        {
            DropInput(input);
            return ReceiveOutcome.Continue;
        }

        if (!Has(ReadFlags.Open))
        {
            return OnReceivedBeforeStart(input);
        }

        // The connection below may not know of the pause, at bytes that had come with the handshake.
        if (!_yielded && !Has(ReadFlags.Paused))
        {
            Pump(input);
        }

        return (_yielded || Has(ReadFlags.Paused)) && !IsClosing ? ReceiveOutcome.Pause : ReceiveOutcome.Continue;
    }

    public void OnInputEnded(bool truncated)
    {
        EndInput();
        if (Has(ReadFlags.Open) && !_yielded && !Has(ReadFlags.Paused))
        {
            Pump(input: null);
        }
    }

    /// <summary>Bytes have arrived before the protocol was opened.</summary>
    protected abstract ReceiveOutcome OnReceivedBeforeStart(ArrayPoolCircularBuffer input);

    /// <summary>The stream below has ended, after the bytes that were offered.</summary>
    protected abstract void EndInput();

    /// <summary>Begins a burst.</summary>
    /// <param name="input">The bytes below; null if there are no new ones.</param>
    /// <param name="isNewTurn">Whether other connections have had their turn since the last burst.</param>
    protected abstract void BeginBurst(ArrayPoolCircularBuffer? input, bool isNewTurn);

    /// <summary>Unwraps pieces into <see cref="Data"/> until it has enough for the protocol. True if it has more than before.</summary>
    protected abstract bool TryUnwrap();

    /// <summary>Everything that can be unwrapped now was read by the protocol: handles an end or a violation of the peer.</summary>
    /// <returns>Whether the turn is over, with more to unwrap.</returns>
    protected abstract bool AfterReading();

    /// <summary>Ends a burst: its bytes must not be read any more.</summary>
    protected abstract void EndBurst();

    private void Resume()
    {
        if (!Has(ReadFlags.Open) || Is(LifeFlags.Ended))
        {
            return;
        }

        // After a pause an empty ring is offered, too: the protocol must learn that reading has resumed.
        _offers = Has(ReadFlags.Paused);
        Set(ReadFlags.Paused, false);
        Pump(input: null);
        if (!_yielded && !Has(ReadFlags.Paused))
        {
            // The rest waits in the ring below.
            Below.ResumeReading();
        }
    }

    // Unwraps and offers until nothing is left to read, the protocol pauses, or the turn ends.
    private void Pump(ArrayPoolCircularBuffer? input)
    {
        _inBurst = true;
        try
        {
            bool isNewTurn = _yielded;
            _yielded = false;
            BeginBurst(input, isNewTurn);
            Read();
        }
        catch (Exception e)
        {
            ReadFault(e);
        }
        finally
        {
            EndBurst();
            _inBurst = false;
        }

        if (Layer.NotWrapped != 0)
        {
            Layer.Flush();
        }
    }

    private void Read()
    {
        bool offers = _offers || !_data.Ring.IsEmpty;
        _offers = false;
        while (!IsClosing && (offers || TryUnwrap()))
        {
            offers = false;
            OfferTo(_data.Ring);
            if (Has(ReadFlags.Paused))
            {
                return;
            }
        }

        if (IsClosing)
        {
            return;
        }

        if (AfterReading())
        {
            // A pause that is resumed at once, as where the protocol's own turn ends.
            _yielded = true;
            ResumeReading();
        }
        else if (!IsClosing)
        {
            _data.Ring.ReleaseWhenIdle();
        }
    }
}
