using FastPort.Framing;
using FastPort.Protocol;
using FastPort.Routing;
using Google.Protobuf;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>Routing shown in docs/routing.md.</summary>
internal static class RoutingSnippets
{
    // docs: routing-server
    public static SendStatus Alarm(FastPortServer server, string machine, Echo alarm)
    {
        // Looks the id up once per send. For many sends to one machine, keep server.Routing.RouteTo(machine).
        SendStatus status = server.Routing.TrySendTo(machine, 0x1020, alarm);
        if (status != SendStatus.Queued)
        {
            // NotFound: nobody has the id. Full or Dropped: its queue is full, as its policy says. Nothing is lost in silence.
            server.Routing.Publish("alarms/undelivered", 1, alarm);
        }

        return status;
    }

    public static void Watch(FastPortServer server, Action<string> log)
    {
        server.RoutingIdTaken += session => log($"{session.RoutingId} is here, from {session.RemoteEndPoint}");
        server.RoutingIdLost += (session, reason) => log($"{session.RoutingId} is gone: {reason.Kind}");
    }

    public static bool SendHome(FastPortServer server, string machine) =>
        server.Routing.Kick(machine, ErrorCode.Forbidden, "This machine is out of service.");

    // docs: end

    // docs: routing-client
    public static async Task<FastPortClient> JoinAsync(string endpoint, string name, Action<string> show)
    {
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint, RoutingId = name });

        // Before connecting, so that nothing comes too early. The type is the application's own; From is set by the server.
        client.OnRelayed(1, Echo.Parser, (text, scoped in message) => show($"{message.From}: {text.Payload.ToStringUtf8()}"));
        await client.ConnectAsync();
        await client.SubscribeAsync(
            "news/", Echo.Parser, (text, scoped in message) => show($"{message.Address}: {text.Payload.ToStringUtf8()}"));
        return client;
    }

    public static async Task<bool> TellAsync(IFastPortClient client, string to, string text)
    {
        try
        {
            await client.RelayAsync(to, 1, new Echo { Payload = ByteString.CopyFromUtf8(text) });
            return true;
        }
        catch (RequestFailedException e) when (e.Code == ErrorCode.NotFound)
        {
            return false;
        }
    }

    public static Task<int> AnnounceAsync(IFastPortClient client, string text) =>
        client.PublishAsync("news/today", 1, new Echo { Payload = ByteString.CopyFromUtf8(text) });

    // docs: end

    // docs: routing-stream
    public static async Task FollowAsync(
        IFastPortClient client, Action<string> show, Action onSubscribed, CancellationToken cancellationToken)
    {
        await foreach (TopicMessage<Echo> message in client.ReadTopicAsync(
            "news/", Echo.Parser, onSubscribed: onSubscribed, cancellationToken: cancellationToken))
        {
            if (message.Dropped > 0)
            {
                show($"{message.Dropped} messages were dropped here");
            }

            if (message.Topic == "news/last")
            {
                break;
            }

            show($"{message.Topic}: {message.Body.Payload.ToStringUtf8()}");
        }
    }

    // docs: end

    // docs: router
    public sealed class LinkedRouter(IMessageRouter local, Func<ServerRouting> other) : IMessageRouter
    {
        public SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
            where TBody : IFrameBody, allows ref struct
        {
            SendStatus status = local.TrySend(routingId, type, in body);
            if (status == SendStatus.NotFound)
            {
                status = other().TrySendTo(System.Text.Encoding.UTF8.GetString(routingId), type, in body);

                // Full would ask the sender to wait for room here, where nobody has the id.
                return status == SendStatus.Full ? SendStatus.Dropped : status;
            }

            return status;
        }

        public ValueTask<SendStatus> SendAsync<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
            where TBody : IFrameBody, allows ref struct => new(TrySend(routingId, type, in body));

        public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default) =>
            local.WhenWritableAsync(routingId, cancellationToken);

        public int Publish<TBody>(scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
            where TBody : IFrameBody, allows ref struct => local.Publish(topic, audience, type, in body, ref next);
    }

    public static FastPortServerComponents LinkedTo(Func<ServerRouting> other) =>
        new() { Router = local => new LinkedRouter(local, other) };

    // docs: end
}
