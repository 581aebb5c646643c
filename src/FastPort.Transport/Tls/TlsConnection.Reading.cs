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

    private readonly Action _onReadable;
    private ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter _read;
    private bool _readWaits;

    // The read waited and has ended; its result is not taken yet.
    private bool _waited;
    private bool _streamEnded;
    private bool _isCut;

    protected override ReceiveOutcome OnReceivedBeforeStart(ArrayPoolCircularBuffer input) =>
        _records.TryCollect(input) ? ReceiveOutcome.Continue : ReceiveOutcome.Pause;

    protected override void EndInput() => _records.End();

    protected override void BeginBurst(ArrayPoolCircularBuffer? input, bool isNewTurn)
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

    protected override void EndBurst() => _records.Withdraw();

    protected override bool AfterReading()
    {
        if (_isCut)
        {
            // An attacker on the path may have cut the stream (RFC 8446, 6.1): the protocol must not treat it as complete.
            Close(Cut);
        }
        else if (_streamEnded)
        {
            ReportInputEnd(!Data.Ring.IsEmpty);
        }
        else
        {
            return _records.IsTurnOver;
        }

        return false;
    }

    // An IOException of the protocol is not the peer's fault, so it is not caught here.
    protected override bool TryUnwrap()
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
        while (count < BurstBytes && (count == 0 || Data.HasRoom) && TryBecomeReadable())
        {
            // The stream holds decrypted bytes now, or has ended: this read never waits.
            Data.MakeRoom();
            Memory<byte> room = Data.Ring.GetWritableMemory(1);
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

            Data.Received(got, room.Length);
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
        if (!InBurst && !Is(LifeFlags.Ended))
        {
            // The runtime has moved the continuation elsewhere, or the end of the stream came.
            ResumeReading();
        }
    }
}
