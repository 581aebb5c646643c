using FastPort.Framing;

namespace FastPort.Interop.Tests.Peers;

/// <summary>A frame as the peer saw it.</summary>
internal sealed record PeerFrame(
    uint Length, ushort Type, FrameFlags Flags, uint Correlation, string? Received, string? Sent, int BodyBytes, PeerError? Error)
{
    /// <summary>The timing block; null where the frame has none.</summary>
    public FrameTiming? Timing => Received is null || Sent is null ? null : new FrameTiming(ulong.Parse(Received), ulong.Parse(Sent));

    /// <summary>Asserts that this is an error reply to a request of that type, and returns its sentence.</summary>
    public string AssertError(ErrorCode code, ushort type, FrameFlags more = FrameFlags.None)
    {
        Xunit.Assert.Equal((type, FrameFlags.Reply | FrameFlags.Error | more), (Type, Flags));
        Xunit.Assert.NotNull(Error);
        Xunit.Assert.Equal((uint)code, Error.Code);
        Xunit.Assert.NotEmpty(Error.Message);
        return Error.Message;
    }

    /// <summary>Asserts that this is the reply to a request of that type, with a body of so many bytes.</summary>
    public void AssertReply(ushort type, int bodyBytes, FrameFlags more = FrameFlags.None)
    {
        Xunit.Assert.Equal((type, FrameFlags.Reply | more, bodyBytes), (Type, Flags, BodyBytes));
        Xunit.Assert.NotEqual(0u, Correlation);
    }
}

/// <summary>An Error message as the peer decoded it.</summary>
internal sealed record PeerError(uint Code, string Message);

/// <summary>
/// How a connection ended for the peer: in order, that is with the end of the stream after whole frames, or with an error.
/// </summary>
internal sealed record PeerEnd(bool Orderly, string? Error)
{
    public static readonly PeerEnd InOrder = new(true, null);
}
