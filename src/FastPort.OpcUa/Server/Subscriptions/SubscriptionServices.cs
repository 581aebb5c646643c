using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>The services of subscriptions (OPC 10000-4, 5.14).</summary>
internal static class SubscriptionServices
{
    public static void Create(in ServiceCall call, ref BinaryDecoder decoder)
    {
        CreateSubscriptionRequest request = decoder.ReadStructure<CreateSubscriptionRequest>();
        if (!decoder.Error.IsGood)
        {
            call.Fault(decoder.Error);
            return;
        }

        SubscriptionTerms terms = SubscriptionTerms.Revise(
            call.Server.Options, request.RequestedPublishingInterval, request.RequestedLifetimeCount, request.RequestedMaxKeepAliveCount,
            request.MaxNotificationsPerPublish, request.Priority);
        if (call.Session!.Subscriptions.Create(terms, request.PublishingEnabled) is not { } subscription)
        {
            call.Fault(StatusCodes.BadTooManySubscriptions);
            return;
        }

        call.Reply(new CreateSubscriptionResponse
        {
            SubscriptionId = subscription.Id,
            RevisedPublishingInterval = terms.Interval.TotalMilliseconds,
            RevisedLifetimeCount = terms.LifetimeCount,
            RevisedMaxKeepAliveCount = terms.KeepAliveCount,
        });
    }

    public static void Modify(in ServiceCall call, ref BinaryDecoder decoder)
    {
        ModifySubscriptionRequest request = decoder.ReadStructure<ModifySubscriptionRequest>();
        if (Find(call, decoder.Error, request.SubscriptionId) is not { } subscription)
        {
            return;
        }

        SubscriptionTerms terms = SubscriptionTerms.Revise(
            call.Server.Options, request.RequestedPublishingInterval, request.RequestedLifetimeCount, request.RequestedMaxKeepAliveCount,
            request.MaxNotificationsPerPublish, request.Priority);
        subscription.Modify(terms);
        call.Reply(new ModifySubscriptionResponse
        {
            RevisedPublishingInterval = terms.Interval.TotalMilliseconds,
            RevisedLifetimeCount = terms.LifetimeCount,
            RevisedMaxKeepAliveCount = terms.KeepAliveCount,
        });
    }

    public static void SetPublishingMode(in ServiceCall call, ref BinaryDecoder decoder)
    {
        SetPublishingModeRequest request = decoder.ReadStructure<SetPublishingModeRequest>();
        if (RefuseIds(call, decoder.Error, request.SubscriptionIds))
        {
            return;
        }

        SessionSubscriptions subscriptions = call.Session!.Subscriptions;
        var results = new StatusCode[request.SubscriptionIds!.Length];
        for (int i = 0; i < results.Length; i++)
        {
            if (subscriptions.Find(request.SubscriptionIds[i]) is not { } subscription)
            {
                results[i] = StatusCodes.BadSubscriptionIdInvalid;
                continue;
            }

            subscription.IsPublishing = request.PublishingEnabled;
            subscription.ResetLifetime();
        }

        call.Reply(new SetPublishingModeResponse { Results = results });
    }

    public static void Publish(in ServiceCall call, ref BinaryDecoder decoder)
    {
        PublishRequest request = decoder.ReadStructure<PublishRequest>();
        OpcUaServerOptions options = call.Server.Options;
        SubscriptionAcknowledgement[]? acknowledgements = request.SubscriptionAcknowledgements;
        StatusCode? refused = !decoder.Error.IsGood ? decoder.Error
            : acknowledgements?.Length > (long)options.MaxSubscriptionsPerSession * options.MaxUnacknowledgedMessages
                ? StatusCodes.BadTooManyOperations
            : null;
        if (refused is { } status)
        {
            call.Fault(status);
            return;
        }

        call.Session!.Subscriptions.Publish(call, acknowledgements is { Length: > 0 } ? acknowledgements : null);
    }

    public static void Republish(in ServiceCall call, ref BinaryDecoder decoder)
    {
        RepublishRequest request = decoder.ReadStructure<RepublishRequest>();
        if (Find(call, decoder.Error, request.SubscriptionId) is not { } subscription)
        {
            return;
        }

        subscription.ResetLifetime();
        if (subscription.Sent.Find(request.RetransmitSequenceNumber) is not { } message)
        {
            call.Fault(StatusCodes.BadMessageNotAvailable);
            return;
        }

        MessageBuffer buffer = call.Channel.BeginResponse();
        var encoder = new BinaryEncoder(buffer);
        call.Channel.EncodeHeader(ref encoder, RepublishResponse.EncodingId, call.Header.RequestHandle, StatusCodes.Good);
        encoder.WriteBytes(message.Written);
        encoder.Complete();
        call.Channel.EndResponse(call.RequestId, call.Header.RequestHandle, buffer);
    }

    public static void Delete(in ServiceCall call, ref BinaryDecoder decoder)
    {
        DeleteSubscriptionsRequest request = decoder.ReadStructure<DeleteSubscriptionsRequest>();
        if (RefuseIds(call, decoder.Error, request.SubscriptionIds))
        {
            return;
        }

        SessionSubscriptions subscriptions = call.Session!.Subscriptions;
        var results = new StatusCode[request.SubscriptionIds!.Length];
        for (int i = 0; i < results.Length; i++)
        {
            bool isDeleted = subscriptions.Delete(request.SubscriptionIds[i]);
            results[i] = isDeleted ? StatusCodes.Good : StatusCodes.BadSubscriptionIdInvalid;
        }

        call.Reply(new DeleteSubscriptionsResponse { Results = results });
        subscriptions.Serve();
    }

    /// <summary>The subscription of a request; null if the request was answered with a fault.</summary>
    public static Subscription? Find(in ServiceCall call, StatusCode decoding, uint id)
    {
        Subscription? subscription = decoding.IsGood ? call.Session!.Subscriptions.Find(id) : null;
        if (subscription is null)
        {
            call.Fault(decoding.IsGood ? StatusCodes.BadSubscriptionIdInvalid : decoding);
        }

        return subscription;
    }

    /// <summary>True if the request was answered with a fault.</summary>
    public static bool RefuseIds(in ServiceCall call, StatusCode decoding, uint[]? ids)
    {
        StatusCode? refused = !decoding.IsGood ? decoding
            : ids is not { Length: > 0 } ? StatusCodes.BadNothingToDo
            : ids.Length > Math.Max(call.Server.Options.MaxSubscriptionsPerSession, 1) ? StatusCodes.BadTooManyOperations
            : null;
        if (refused is { } status)
        {
            call.Fault(status);
        }

        return refused is not null;
    }
}
