using FastPort.Connections;
using FastPort.Framing;
using FastPort.Limits;
using FastPort.Logging;
using FastPort.Sessions.Logging;

namespace FastPort.Sessions.Receiving;

/// <content>
/// Rates by address, identity and in total. A burst is charged after it was handled, so a session goes over a rate by at most one turn.
/// While a rate is exceeded, by whichever session, all sessions of the account are not read, or their requests are refused. Loop only.
/// </content>
internal sealed partial class FrameProtocol
{
    // A session that waits longer looks again in between.
    private static readonly TimeSpan LongestHold = TimeSpan.FromMinutes(1);

    private SessionRates? _rates;
    private bool _resumesLater;
    private bool _refusesAll;
    private long _chargedBytes;
    private (long Frames, long Bytes) _chargedWithoutData;

    // Whether the burst that begins must wait. Held bytes are in the ring, so the resume offers them again. A session that this side ends
    // is not held: its requests are refused soon, and the peer's Goodbye must be read. One that the peer ends is: the peer may send on for
    // as long as a request of it is in flight.
    private bool IsHeld(SessionRates rates, ArrayPoolCircularBuffer input, long now)
    {
        TimeSpan time = rates.OverFor(now);
        _refusesAll = time > TimeSpan.Zero && rates.Refuses;
        bool holds = time > TimeSpan.Zero && !rates.Refuses && !_end.IsAnnounced;
        _deadlines.RateHolds(holds);
        if (!holds)
        {
            return false;
        }

        if (!_paused)
        {
            _end.BeginWork();
        }

        _paused = true;
        _yielded = false;
        _deadlines.AfterBurst(input, paused: true, forPeer: true);
        if (!_resumesLater)
        {
            _resumesLater = true;
            _connection.PostAfter(
                time < LongestHold ? time : LongestHold,
                static state =>
                {
                    var protocol = (FrameProtocol)state!;
                    protocol._resumesLater = false;
                    protocol._connection.ResumeReading();
                },
                this);
        }

        return true;
    }

    // Ends a hold at once.
    private void Release()
    {
        if (_resumesLater)
        {
            _connection.ResumeReading();
        }
    }

    // Reads the clock once more per burst: handlers that are not measured leave no reading.
    private void Charge(SessionRates rates, long began, long messages)
    {
        long bytes = _connection.BytesReceived - _chargedBytes;
        _chargedBytes += bytes;
        (long Frames, long Bytes) without = _connection.ReceivedWithoutData;
        messages += without.Frames - _chargedWithoutData.Frames;
        bytes += without.Bytes - _chargedWithoutData.Bytes;
        _chargedWithoutData = without;
        if (_refusesAll)
        {
            // Nothing was run.
            return;
        }

        long ended = MonotonicClock.Nanoseconds;
        if (rates.Charge(new RateUse(messages, bytes, ended - began), ended))
        {
            // The name may be one that the peer's token has.
            string account = PeerText.Escape(rates.OverAccount!.Name);
            string limit = rates.OverAccount.Show(rates.OverResource);
            if (rates.Refuses)
            {
                SessionLog.RateRefuses(_settings.Logger, account, limit, Session, rates.OverFor(ended));
            }
            else
            {
                SessionLog.RateHolds(_settings.Logger, account, limit, Session, rates.OverFor(ended));
            }
        }
    }

    private static bool IsServedAtAnyRate(ushort type) =>
        type is ControlType.Hello or ControlType.Ping or ControlType.Goodbye or ControlType.Cancel or ControlType.Credit;

    private void RefuseOverRate(in FrameHeader header, long received)
    {
        RateAccount account = _rates!.OverAccount!;
        Output.Refuse(
            header,
            received,
            ErrorCode.Overloaded,
            $"{account.Name} is over its rate of {account.Show(_rates.OverResource)}; the request was not run.");
        if (!header.IsOneWay && Output.CarriesStreams)
        {
            // The error ends the call if the frame is part of a stream.
            Dispatcher.Cancel(header.Correlation);
        }
    }
}
