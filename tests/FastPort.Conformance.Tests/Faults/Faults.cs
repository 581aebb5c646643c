using FastPort.Conformance.Wire;

namespace FastPort.Conformance.Tests.Faults;

/// <summary>Sends no frames of a kind.</summary>
internal sealed class Without(string kind) : Fault
{
    public override IEnumerable<Frame> OfClient(int connection, Frame frame) => MessageKind.Get(kind).Fits(frame) ? [] : [frame];
}

/// <summary>Sends other frames than those of a kind.</summary>
internal sealed class Changing(string kind, Func<Frame, Frame> change) : Fault
{
    public override IEnumerable<Frame> OfClient(int connection, Frame frame) =>
        [MessageKind.Get(kind).Fits(frame) ? change(frame) : frame];
}

/// <summary>Sends the requests that were in flight again over the next connection.</summary>
internal sealed class SendingAgain(string kind) : Fault
{
    private readonly List<Frame> _sent = [];

    public override IEnumerable<Frame> OfClient(int connection, Frame frame)
    {
        if (MessageKind.Get(kind).Fits(frame) && frame.Type >= 0x0200 && connection == 1)
        {
            _sent.Add(frame);
        }

        // The server's Ping comes after the Welcome.
        return MessageKind.Get("Pong").Fits(frame) && connection == 2 ? [.. _sent, frame] : [frame];
    }
}

/// <summary>Sends request items without waiting for credit: the client believes that it has much.</summary>
internal sealed class WithoutPatience : Fault
{
    public override IEnumerable<Frame> OfClient(int connection, Frame frame) => [frame];

    public override IEnumerable<Frame> OfServer(Frame frame) => MessageKind.Get("Credit").Fits(frame)
        ? [frame with { Body = MessageBody.Encode(MessageKind.Get("Credit").Fields, Much(frame)) }]
        : [frame];

    private static System.Text.Json.Nodes.JsonObject Much(Frame frame)
    {
        System.Text.Json.Nodes.JsonObject credit = MessageBody.Decode(MessageKind.Get("Credit").Fields, frame.Body);
        credit["messages"] = 1000;
        credit["bytes"] = 100_000;
        return credit;
    }
}

/// <summary>Grants credit for reply items when they arrive, not when they are consumed.</summary>
internal sealed class GrantingEarly : Fault
{
    public override IEnumerable<Frame> OfClient(int connection, Frame frame) => [frame];

    public override IEnumerable<Frame> AfterServer(Frame frame) => MessageKind.Get("ReplyItem").Fits(frame)
        ?
        [
            new Frame(0x000a, Frame.OneWay, 0, MessageBody.Encode(
                MessageKind.Get("Credit").Fields,
                new System.Text.Json.Nodes.JsonObject
                {
                    ["correlation"] = frame.Correlation,
                    ["messages"] = 2,
                    ["bytes"] = frame.Body.Length,
                })),
        ]
        : [];
}

/// <summary>Acknowledges updates of tags when they arrive, not when the program takes them.</summary>
internal sealed class AcknowledgingEarly : Fault
{
    public override IEnumerable<Frame> OfClient(int connection, Frame frame) => [frame];

    public override IEnumerable<Frame> AfterServer(Frame frame)
    {
        if (!MessageKind.Get("TagUpdate").Fits(frame))
        {
            return [];
        }

        System.Text.Json.Nodes.JsonObject update = MessageBody.Decode(MessageKind.Get("TagUpdate").Fields, frame.Body);
        return
        [
            new Frame(0x0206, Frame.OneWay, 0, MessageBody.Encode(
                MessageKind.Get("AcknowledgeUpdates").Fields,
                new System.Text.Json.Nodes.JsonObject
                {
                    ["subscription"] = update["subscription"]!.DeepClone(),
                    ["number"] = update["number"]!.DeepClone(),
                })),
        ];
    }
}

/// <summary>Does not hear frames of a kind.</summary>
internal sealed class DeafTo(string kind) : Fault
{
    public override IEnumerable<Frame> OfClient(int connection, Frame frame) => [frame];

    public override IEnumerable<Frame> OfServer(Frame frame) => MessageKind.Get(kind).Fits(frame) ? [] : [frame];
}

/// <summary>Hears what the server has sent otherwise.</summary>
internal sealed class Mishearing(string kind, Func<Frame, Frame> change) : Fault
{
    public override IEnumerable<Frame> OfClient(int connection, Frame frame) => [frame];

    public override IEnumerable<Frame> OfServer(Frame frame) => [MessageKind.Get(kind).Fits(frame) ? change(frame) : frame];
}
