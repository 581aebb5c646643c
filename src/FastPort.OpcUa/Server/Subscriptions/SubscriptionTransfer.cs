using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>
/// TransferSubscriptions (OPC 10000-4, 5.14.7): a client that has lost its session continues where it was. Timers and queues stay as they
/// are; only the owner changes.
/// </summary>
internal static class SubscriptionTransfer
{
    /// <summary>Serves the request; not under the session's gate, because the other session's gate may have to come first.</summary>
    public static void Transfer(in ServiceCall call, ref BinaryDecoder decoder)
    {
        TransferSubscriptionsRequest request = decoder.ReadStructure<TransferSubscriptionsRequest>();
        if (SubscriptionServices.RefuseIds(call, decoder.Error, request.SubscriptionIds))
        {
            return;
        }

        var results = new TransferResult[request.SubscriptionIds!.Length];
        for (int i = 0; i < results.Length; i++)
        {
            results[i] = Transfer(call, request.SubscriptionIds[i], request.SendInitialValues);
        }

        call.Reply(new TransferSubscriptionsResponse { Results = results });
    }

    private static TransferResult Transfer(in ServiceCall call, uint id, bool sendsInitialValues)
    {
        ServerSession session = call.Session!;
        while (call.Server.Sessions.Subscriptions.TryGetValue(id, out Subscription? subscription))
        {
            SessionSubscriptions owner = subscription.Owner;
            bool isFirst = owner.Session.Number < session.Number;
            lock (isFirst ? owner.Session.Gate : session.Gate)
            {
                lock (isFirst ? session.Gate : owner.Session.Gate)
                {
                    if (subscription.Owner == owner)
                    {
                        return Transfer(call, subscription, owner, sendsInitialValues);
                    }
                }
            }
        }

        return new TransferResult { StatusCode = StatusCodes.BadSubscriptionIdInvalid };
    }

    // Under the gates of both sessions.
    private static TransferResult Transfer(
        in ServiceCall call, Subscription subscription, SessionSubscriptions from, bool sendsInitialValues)
    {
        ServerSession session = call.Session!;
        StatusCode status = session.Channel != call.Channel ? StatusCodes.BadSecureChannelIdInvalid
            : from.Find(subscription.Id) is null ? StatusCodes.BadSubscriptionIdInvalid
            : from.Session == session ? StatusCodes.BadNothingToDo
            : !IsSameUser(from.Session, session) ? StatusCodes.BadUserAccessDenied
            : session.Subscriptions.Take(subscription, from);
        if (!status.IsGood)
        {
            return new TransferResult { StatusCode = status };
        }

        if (sendsInitialValues)
        {
            subscription.Resend();
        }

        return new TransferResult { AvailableSequenceNumbers = subscription.Sent.Numbers };
    }

    // Anonymous clients are distinguished by the application in their certificates. Without security, nothing distinguishes them: then a
    // client gets only subscriptions that no other client is using.
    internal static bool IsSameUser(ServerSession owner, ServerSession other) =>
        Equals(owner.User, other.User)
        && (owner.User is not null
            || (owner.ClientCertificate is null
                ? other.ClientCertificate is null && owner.Channel is null
                : owner.ClientUri is not null && owner.ClientUri == other.ClientUri));
}
