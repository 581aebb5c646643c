using System.Buffers;
using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Lifecycle;

namespace FastPort.Sessions.Receiving;

/// <content>The decode loop: reads frames in the receive ring and passes each to its handler.</content>
internal sealed partial class FrameProtocol
{
    // NoInlining: inlined into a transport's loop, this method would use up the JIT's inlining budget, and the small methods called here
    // would not be inlined.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReceiveOutcome Decode(ArrayPoolCircularBuffer input, long received)
    {
        while (!_connection.IsClosing)
        {
            // Only the accepting side pauses reading while its send queue is full: if both sides did, they would deadlock. If nothing is
            // unread, there is nothing to pause, and no resumed burst would return here.
            if (_handshake is not null && Output.QueueLimit.IsFull && !input.IsEmpty && !TryMakeRoom())
            {
                return ReceiveOutcome.Pause;
            }

            FrameReadStatus status = FrameReader.TryReadHead(input, _maxFrameBytes, Requests.Expected, out FrameHeader header);
            switch (status)
            {
                case FrameReadStatus.Complete:
                    if (!Dispatch(header, input, received))
                    {
                        return ReceiveOutcome.Pause;
                    }

                    Volatile.Write(ref _messagesReceived, _messagesReceived + 1);
                    input.Consume((int)header.FrameSize);
                    if (_turnBudget.MayBeDue(Dispatcher.LastReading) && EndsTurn(input))
                    {
                        return ReceiveOutcome.Pause;
                    }

                    break;
                case FrameReadStatus.Incomplete:
                    if (_handshake is { AwaitsHello: true } && input.Length >= FrameHeader.Size)
                    {
                        RefuseUnlessHello(header, received);
                    }

                    return ReceiveOutcome.Continue;
                default:
                    Violated(status, header, _maxFrameBytes);
                    break;
            }
        }

        return ReceiveOutcome.Continue;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool EndsTurn(ArrayPoolCircularBuffer input)
    {
        _turnBudget.Look(Dispatcher.LastReading);
        if (_turnBudget.IsOver)
        {
            // A pause that is resumed at once: the transport offers the remaining bytes after the loop's other connections had their turn.
            _turnBudget.Renew();
            _yielded = true;
            _connection.ResumeReading();
            return true;
        }

        if (_turnBudget.AreRepliesDue && !input.IsEmpty)
        {
            // The peer works on these replies while the rest of the burst is handled.
            _connection.FlushNow();
            _turnBudget.RepliesSent(MonotonicClock.Nanoseconds);
        }

        return false;
    }

    // The send queue is at its bound: flushes once. If that makes no room, reading pauses until the queue has drained.
    private bool TryMakeRoom()
    {
        if (Output.QueueLimit.TryMake())
        {
            return true;
        }

        if (_settings.Options.SendQueueFull == SendQueueFullPolicy.Disconnect)
        {
            Output.QueueLimit.DisconnectSlowConsumer();
            return false;
        }

        _waitsForReader = true;
        Output.QueueLimit.NotifyWhenDrained();
        return false;
    }

    // Returns false to see the same frame again after a resume.
    private bool Dispatch(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        if (_handshake is { AwaitsHello: true } && RefuseUnlessHello(header, received))
        {
            return true;
        }

        if ((header.Flags & (FrameFlags.Reply | FrameFlags.More)) != 0)
        {
            if (!header.IsReply)
            {
                return DispatchItem(header, input, received);
            }

            Requests.Deliver(header, input, received);
            return true;
        }

        // A frame that the dispatcher has begun to handle is handled: what it has found out applies to no other.
        if (_refusesAll && !IsServedAtAnyRate(header.Type) && !Dispatcher.HoldsFrame)
        {
            RefuseOverRate(header, received);
            return true;
        }

        return header.Type <= ControlType.Credit
            ? DispatchControl(header, input, received)
            : Dispatcher.TryDispatch(header, input, received);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool DispatchControl(in FrameHeader header, ArrayPoolCircularBuffer input, long received)
    {
        ReadOnlySequence<byte> body = input.GetReadableSequence(header.BodyOffset, header.BodySize);
        switch (header.Type)
        {
            case ControlType.Hello when _handshake is not null:
                return OnHello(_handshake, header, body, received);
            case ControlType.Ping:
                _control.OnPing(header, received);
                return true;
            case ControlType.Goodbye:
                OnGoodbye(header, body, received);
                return true;
            case ControlType.Cancel:
                _control.OnCancel(header, body, received);
                return true;
            case ControlType.Credit when Output.CarriesStreams:
                OnCredit(header, body, received);
                return true;
            default:
                return Dispatcher.TryDispatch(header, input, received);
        }
    }

    private bool OnHello(Handshake handshake, in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        HelloOutcome outcome = handshake.OnHello(header, body, received);
        if (outcome == HelloOutcome.Welcomed)
        {
            Identified(handshake);
        }

        return outcome != HelloOutcome.Awaited;
    }

    private void OnGoodbye(in FrameHeader header, ReadOnlySequence<byte> body, long received)
    {
        if (_control.OnGoodbye(header, body, received) is { } reason)
        {
            _end.PeerSaidGoodbye(reason, finishes: _handshake is not null);
            if (_handshake is null)
            {
                // The accepting side asks the connecting side to leave.
                LeaveHere(reason);
            }
        }
    }

    // Strings are built in separate methods: their stack space would otherwise be cleared for every frame.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool RefuseUnlessHello(in FrameHeader header, long received)
    {
        if (header.Type != ControlType.Hello || header.IsReply)
        {
            Output.RefuseUnauthenticated(
                header,
                received,
                new CloseReason(CloseKind.Unauthenticated, $"Message 0x{header.Type:X4} came before a valid Hello."));
            return true;
        }

        if (header.Length > Handshake.MaxHelloBytes)
        {
            Violated(FrameReadStatus.TooLarge, header, Handshake.MaxHelloBytes);
            return true;
        }

        return false;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Violated(FrameReadStatus status, in FrameHeader header, int limit)
    {
        if (status == FrameReadStatus.TooLarge)
        {
            Output.ProtocolError(
                ErrorCode.FrameTooLarge, header.Type, $"The frame's length is {header.Length}; the limit is {limit} bytes.");
            return;
        }

        Output.ProtocolError(
            ErrorCode.MalformedFrame,
            header.Type,
            $"The frame header is malformed (length {header.Length}, type 0x{header.Type:X4}, flags 0x{(byte)header.Flags:X2}, version "
            + $"{header.Version}, correlation {header.Correlation}).");
    }
}
