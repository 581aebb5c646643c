using FastPort.Conformance.Wire;

namespace FastPort.Conformance.Serving;

/// <summary>What holds for every frame of a client, whatever the case is about: docs/protocol.md, "Errors", MalformedFrame.</summary>
internal sealed class FrameRules
{
    private const uint TraceBit = 1;
    private const uint StreamsBit = 2;
    private const uint CallsBit = 8;

    private readonly Lock _gate = new();
    private uint _extensions;
    private uint _maxFrameBytes;

    public void Agree(uint extensions, uint maxFrameBytes)
    {
        lock (_gate)
        {
            _extensions = extensions;
            _maxFrameBytes = maxFrameBytes;
        }
    }

    /// <exception cref="CaseFailureException">A client must not send this frame.</exception>
    public void Check(Frame frame)
    {
        lock (_gate)
        {
            if (Problem(frame) is { } problem)
            {
                throw new CaseFailureException($"The client sent a frame that is malformed: {problem} ({frame}).");
            }
        }
    }

    private string? Problem(Frame frame)
    {
        byte flags = frame.Flags;
        bool isReply = (flags & Frame.Reply) != 0;
        bool isOneWay = (flags & Frame.OneWay) != 0;
        return frame.Version != 1 ? $"its version is {frame.Version}"
            : (flags & Frame.Unknown) != 0 ? "bit 6 of its flags is set"
            : isReply && isOneWay ? "it is a one-way reply"
            : (flags & Frame.Error) != 0 && !isReply ? "an error is not a reply"
            : (flags & Frame.Trace) != 0 && (isReply || !Has(TraceBit)) ? "Trace is not allowed there"
            : (flags & Frame.More) != 0 && ((flags & (Frame.OneWay | Frame.Error)) != 0 || !Has(StreamsBit)) ? "More is not allowed there"
            : (flags & Frame.Deadline) != 0 && (isReply || isOneWay || !Has(CallsBit)) ? "Deadline is not allowed there"
            : frame.Correlation == 0 && !isReply && !isOneWay ? "a request has the correlation 0"
            : MessageKind.Get("Credit").Fits(frame) && !Has(StreamsBit) ? "Credit is sent without an agreement on streams"
            : _maxFrameBytes != 0 && frame.LengthWithoutBlocks > _maxFrameBytes
                ? $"its length {frame.LengthWithoutBlocks} exceeds the limit {_maxFrameBytes} of the Welcome"
                : null;
    }

    private bool Has(uint extension) => (_extensions & extension) != 0;
}
