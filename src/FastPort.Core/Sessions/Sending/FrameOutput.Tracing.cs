using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Framing;
using FastPort.Sessions.Tracing;

namespace FastPort.Sessions.Sending;

/// <content>One-way messages with a trace block.</content>
internal sealed partial class FrameOutput
{
    private volatile bool _carriesTraces;

    /// <summary>Whether requests and one-way messages may have a trace block; set on the loop, once.</summary>
    public bool CarriesTraces
    {
        get => _carriesTraces;
        set => _carriesTraces = value;
    }

    /// <summary>
    /// As <see cref="TrySendOneWay{TBody}(ushort, in TBody)"/>, with the context of this thread's activity if there is one and the peer
    /// takes it.
    /// </summary>
    public SendStatus TrySendInContext<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Traces.IsOn && _carriesTraces && Traces.TryGetContext(out ActivityContext context)
            ? TrySendTraced(type, context, in body)
            : TrySendOneWay(type, in body, body.Size);

    // Separate, so that messages without a trace have nothing of it on their stack. Rare, so it is always copied into the send ring.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private SendStatus TrySendTraced<TBody>(ushort type, in ActivityContext context, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        if (QueueLimit.IsFull && !QueueLimit.TryMake())
        {
            return QueueLimit.Refuse();
        }

        var traced = new TracedBody<TBody>(context, in body);
        SendStatus status = Write(
            type, FrameFlags.OneWay | FrameFlags.Trace, 0, 0, in traced, traced.Size, FrameKind.OneWay);
        FlushUnlessDeferred();
        return status == SendStatus.Full ? QueueLimit.Refuse() : status;
    }
}
