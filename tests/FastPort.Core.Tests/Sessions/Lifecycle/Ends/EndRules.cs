using FastPort.Sessions.Lifecycle;

namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>What holds at the end of every session, whatever the order of events and whatever thread they come from.</summary>
internal sealed class EndRules(QuietSession session)
{
    private readonly List<byte> _arrived = [];
    private readonly List<(Asked Request, int Outcomes)> _asked = [];
    private CloseReason? _first;

    /// <summary>Whether the session has ended without waiting for its requests, as by a kick. The rules find an abort themselves.</summary>
    public bool IsCut { get; set; }

    /// <summary>The peer has sent bytes.</summary>
    public void Arrive(byte[] bytes) => _arrived.AddRange(bytes);

    /// <summary>This side has tried to send a request. Only one that was sent has an outcome.</summary>
    public void Ask(Asked request, bool isSent) => _asked.Add((request, isSent ? 1 : 0));

    /// <summary>Something has happened.</summary>
    public void Look() => _first ??= session.Protocol.End.Reason;

    /// <summary>The rules that were broken, a sentence each.</summary>
    public IEnumerable<string> Broken()
    {
        FakeConnection connection = session.Connection;
        bool isCut = IsCut || connection.IsAborted;
        if (session.Protocol.End.State != EndState.Closed || connection.Reason is not { } reason)
        {
            if (session.Protocol.End.HasBegun)
            {
                yield return "The end has begun, and the session is not over.";
            }

            yield break;
        }

        string[] ends = [.. session.Told.Where(static told => told.StartsWith("closed", StringComparison.Ordinal))];
        if (ends is not [var end] || end != $"closed {reason.Kind}" || session.Counters.Snapshot().SessionsOpen != 0)
        {
            yield return $"Its end was reported as {string.Join(", ", ends)}, not once as {reason.Kind}.";
        }

        if (!isCut && _first?.Kind != reason.Kind)
        {
            yield return $"Its first reason was {_first?.Kind}, its last one {reason.Kind}.";
        }

        foreach ((Asked request, int outcomes) in _asked.Where(static one => one.Request.Outcomes != one.Outcomes))
        {
            yield return $"A request of this side had {request.Outcomes} outcomes, not {outcomes}.";
        }

        if (session.Session.OutstandingRequests != 0)
        {
            yield return "A request of this side is still outstanding.";
        }

        Frame[] sent = [.. connection.SentFrames.Select(Frame.Of)];
        if (sent.SkipWhile(static frame => !frame.IsGoodbye).FirstOrDefault(static frame => !frame.MayFollowGoodbye) is { Bytes: > 0 } late)
        {
            yield return $"A frame of type {late.Type:X4} followed the Goodbye.";
        }

        var requests = Frame.AllOf([.. _arrived])
            .Where(static frame => frame.IsRequest)
            .Select(static frame => frame.Correlation)
            .ToHashSet();
        uint[] answered =
            [.. sent.Where(static frame => frame.IsAnswer && frame.Correlation != 0).Select(static frame => frame.Correlation)];
        if (answered.Length != answered.Distinct().Count() || !requests.IsSupersetOf(answered))
        {
            yield return "A request of the peer was answered twice, or an answer has no request.";
        }

        if (!isCut && requests.Except(answered).ToArray() is { Length: > 0 } open)
        {
            yield return $"Requests of the peer have no answer: {string.Join(", ", open)}.";
        }
    }

    private readonly record struct Frame(int Bytes, ushort Type, byte Flags, uint Correlation)
    {
        private const int HeaderBytes = 12;

        public bool IsRequest => (Flags & (Wire.Reply | Wire.Error | Wire.OneWay)) == 0;

        public bool IsAnswer => (Flags & (Wire.Reply | Wire.Error)) != 0;

        public bool IsGoodbye => Type == Wire.Goodbye && !IsAnswer;

        public bool MayFollowGoodbye => IsAnswer || Type is Wire.Goodbye or Wire.Cancel or Wire.Ping;

        public static Frame Of(byte[] frame) => Of(frame.AsSpan());

        public static IEnumerable<Frame> AllOf(byte[] bytes)
        {
            int at = 0;
            while (bytes.Length - at >= HeaderBytes)
            {
                var frame = Of(bytes.AsSpan(at));
                at += frame.Bytes;
                if (at <= bytes.Length)
                {
                    yield return frame;
                }
            }
        }

        private static Frame Of(ReadOnlySpan<byte> frame) => new(
            4 + BitConverter.ToInt32(frame), BitConverter.ToUInt16(frame[4..]), frame[6], BitConverter.ToUInt32(frame[8..]));
    }
}
