#pragma warning disable CA2012 // A read that waits is kept; its result is taken once, when it has ended.

using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Tls;

/// <content>Reading: decrypts what arrives and offers it to the protocol. Only the loop runs this code, but for the handshake.</content>
internal sealed partial class TlsConnection
{
    // The protocol is offered this much at once at most: its answers leave before more is decrypted.
    private const int BurstBytes = 256 * 1024;

    private static readonly CloseReason Cut = new(
        CloseKind.PeerTruncated,
        "The peer's stream ended without a TLS close_notify: it was cut off, or the peer refused this side's certificate.");

    private readonly ReceiveBuffer _data;
    private readonly Action _onReadable;
    private ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter _read;
    private bool _readWaits;

    // The read waited and has ended; its result is not taken yet.
    private bool _waited;
    private bool _streamEnded;
    private bool _isCut;
    private bool _offers;

    // Within a burst, at whose end everything is flushed.
    private bool _inBurst;

    // The turn has ended, perhaps with records that are not decrypted: a resumption is under way.
    private bool _yielded;

    protected override long Received => _data.BytesReceived;

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        if (IsClosing)
        {
            DropInput(input);
            return ReceiveOutcome.Continue;
        }

        if (!Has(ReadFlags.Open))
        {
            return _records.TryCollect(input) ? ReceiveOutcome.Continue : ReceiveOutcome.Pause;
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
        _records.End();
        if (Has(ReadFlags.Open) && !_yielded && !Has(ReadFlags.Paused))
        {
            Pump(input: null);
        }
    }

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
            _below.ResumeReading();
        }
    }

    // Decrypts and offers until nothing is left to read, the protocol pauses, or the turn ends.
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
            _records.Withdraw();
            _inBurst = false;
        }

        if (_output.NotEncrypted != 0)
        {
            _output.Flush();
        }
    }

    private void Read()
    {
        bool offers = _offers || !_data.Ring.IsEmpty;
        _offers = false;
        while (!IsClosing && (offers || TryDecrypt()))
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

    /// <summary>Begins a burst.</summary>
    /// <param name="input">The bytes below; null if there are no new ones.</param>
    /// <param name="isNewTurn">Whether other connections have had their turn since the last burst.</param>
    private void BeginBurst(ArrayPoolCircularBuffer? input, bool isNewTurn)
    {
        if (isNewTurn)
        {
            _records.BeginTurn();
        }

        if (_streamEnded)
        {
            input?.Consume(input.Length);
        }
        else if (input is not null)
        {
            _records.Offer(input);
        }
    }

    // The protocol has read everything that can be decrypted now. True if the turn is over and more records wait.
    private bool AfterReading()
    {
        if (_isCut)
        {
            // An attacker on the path may have cut the stream (RFC 8446, 6.1): the protocol must not treat it as complete.
            Close(Cut);
        }
        else if (_streamEnded)
        {
            ReportInputEnd(!_data.Ring.IsEmpty);
        }
        else
        {
            return _records.IsTurnOver;
        }

        return false;
    }

    // An IOException of the protocol is not the peer's fault, so it is not caught here.
    private bool TryDecrypt()
    {
        try
        {
            return Decrypt();
        }
        catch (IOException e)
        {
            // A peer's bytes that are not records of this session, or its alert.
            Close(_records.HasReadEnd ? Cut : HandshakeFailure.InSession(e));
            return false;
        }
    }

    // True if bytes were added to the ring.
    private bool Decrypt()
    {
        int count = 0;
        while (count < BurstBytes && (count == 0 || _data.HasRoom) && TryBecomeReadable())
        {
            // The stream holds decrypted bytes now, or has ended: this read never waits.
            _data.MakeRoom();
            Memory<byte> room = _data.Ring.GetWritableMemory(1);
            ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter read = _stream.ReadAsync(room).ConfigureAwait(false).GetAwaiter();
            int got = read.IsCompleted
                ? read.GetResult()
                : throw new InvalidOperationException("A read of decrypted bytes waits.");
            if (got == 0)
            {
                _streamEnded = true;
                _isCut = _records.HasReadEnd;
                break;
            }

            _data.Received(got, room.Length);
            _records.Decrypted(got);
            count += got;
        }

        return count != 0;
    }

    // An empty read decrypts the next record, and waits while there is none. It holds no memory in the meantime.
    private bool TryBecomeReadable()
    {
        if (_streamEnded || _readWaits)
        {
            return false;
        }

        if (_waited)
        {
            _waited = false;
            _read.GetResult();
            return true;
        }

        _read = _stream.ReadAsync(Memory<byte>.Empty).ConfigureAwait(false).GetAwaiter();
        if (_read.IsCompleted)
        {
            _read.GetResult();
            return true;
        }

        _readWaits = true;
        _read.UnsafeOnCompleted(_onReadable);
        return false;
    }

    // Within Offer or End of the records, on the loop.
    private void Readable()
    {
        _waited = true;
        _readWaits = false;
        if (!_inBurst && !Is(LifeFlags.Ended))
        {
            // The runtime has moved the continuation elsewhere, or the end of the stream came.
            ResumeReading();
        }
    }
}
