namespace FastPort.OpcUa.Server;

/// <content>The methods of the Server object, which concern the subscriptions of the calling session (OPC 10000-5, 9).</content>
public sealed partial class AddressSpace
{
    private void AddServerMethods()
    {
        MethodArgument subscription = new("SubscriptionId", BuiltInType.UInt32);
        MethodNode getItems = AddServerMethod(
            NodeIds.GetMonitoredItems,
            "GetMonitoredItems",
            [subscription],
            [new("ServerHandles", BuiltInType.UInt32, IsArray: true), new("ClientHandles", BuiltInType.UInt32, IsArray: true)],
            static subscription => MethodResult.Good(
                Variant.FromArray(subscription.Items.Select(static item => item.Id).ToArray()),
                Variant.FromArray(subscription.Items.Select(static item => item.ClientHandle).ToArray())));
        AddArguments(getItems, "InputArguments", new NodeId(0, NodeIds.GetMonitoredItemsInputs), getItems.Inputs);
        AddArguments(getItems, "OutputArguments", new NodeId(0, NodeIds.GetMonitoredItemsOutputs), getItems.Outputs);
        MethodNode resend = AddServerMethod(
            NodeIds.ResendData,
            "ResendData",
            [subscription],
            [],
            static subscription =>
            {
                subscription.Resend();
                return MethodResult.Good();
            });
        AddArguments(resend, "InputArguments", new NodeId(0, NodeIds.ResendDataInputs), resend.Inputs);
    }

    private MethodNode AddServerMethod(
        uint id, string name, MethodArgument[] inputs, MethodArgument[] outputs, Func<Subscription, MethodResult> serve)
    {
        var node = new MethodNode(
            new NodeId(0, id), name, inputs, outputs, static (_, _) => throw new InvalidOperationException("Served with its session."))
        {
            SessionHandler = (session, running, arguments) => Serve(session, running, arguments.Span[0].Get<uint>(), serve),
        };
        return Add(node, new NodeId(0, NodeIds.Server), NodeIds.HasComponent, 0);
    }

    // Subscriptions of other sessions are not accessible.
    private static MethodResult Serve(ServerSession session, RunningCall running, uint id, Func<Subscription, MethodResult> serve)
    {
        lock (session.Gate)
        {
            SessionSubscriptions own = session.Subscriptions;
            return own.Find(id) is not { } subscription
                ? new MethodResult(own.IsOfOther(id) ? StatusCodes.BadUserAccessDenied : StatusCodes.BadSubscriptionIdInvalid)
                : running.TryTakeItems(subscription.ItemCount) ? serve(subscription)
                : new MethodResult(StatusCodes.BadTooManyOperations);
        }
    }
}
