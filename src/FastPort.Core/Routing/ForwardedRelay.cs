using System.Runtime.CompilerServices;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Sessions.Receiving;

namespace FastPort.Routing;

/// <summary>A relay request on its way to another server, whose confirmation is its answer.</summary>
internal sealed class ForwardedRelay : DetachedRequest
{
    private readonly byte[] _to;
    private readonly RelayHandler _handler;
    private readonly ValueTaskAwaiter<SendStatus> _sending;

    public ForwardedRelay(
        FrameProtocol protocol,
        in FrameHeader header,
        long received,
        ReadOnlySpan<byte> to,
        ValueTask<SendStatus> sending,
        RelayHandler handler)
        : base(protocol, header, received)
    {
        _to = to.ToArray();
        _handler = handler;
        _sending = sending.GetAwaiter();
    }

    public override void Begin() => _sending.UnsafeOnCompleted(Complete);

    protected override void Answer()
    {
        SendStatus status = _sending.GetResult();
        if (status == SendStatus.Queued)
        {
            _handler.Relayed();
            Reply();
        }
        else
        {
            (ErrorCode code, string message) = _handler.Failed(status, _to);
            Fail(code, message);
        }
    }
}
