using System.Buffers;
using System.Text.Json.Nodes;
using FastPort.Protocol;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;

namespace FastPort.Conformance.Adapter;

/// <summary>The client that a connect command asks for.</summary>
internal static class ClientSettings
{
    /// <summary>How the client connects.</summary>
    public static FastPortClientOptions Options(JsonObject command)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = (string)command["endpoint"]!,
            RoutingId = (string?)command["routingId"] ?? string.Empty,
            Token = (string?)command["token"] ?? string.Empty,
            ClientName = (string?)command["clientName"] ?? string.Empty,
            Timing = (bool?)command["timing"] ?? false,
            Reconnect = (bool?)command["reconnect"] ?? true,
            RequestTimeout = Time(command["requestTimeout"]) ?? TimeSpan.FromSeconds(30),
            ConnectTimeout = Time(command["connectTimeout"]) ?? TimeSpan.FromSeconds(5),
            ReconnectDelay = TimeSpan.FromMilliseconds(20),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(100),
            Loops = 1,
        };
        if (command["authority"] is { } authority)
        {
            options.Tls.AuthorityFile = (string)authority!;
        }

        SessionOptions session = options.Session;
        session.HeartbeatInterval = Time(command["heartbeatInterval"]) ?? session.HeartbeatInterval;
        session.MaxFrameBytes = (int?)command["maxFrameBytes"] ?? session.MaxFrameBytes;
        session.StreamWindowMessages = (int?)command["window"]?["messages"] ?? session.StreamWindowMessages;
        session.StreamWindowBytes = (int?)command["window"]?["bytes"] ?? session.StreamWindowBytes;
        session.MaxConcurrency = 16;
        return options;
    }

    /// <summary>A client that is not connected yet.</summary>
    /// <param name="command">The command.</param>
    /// <param name="report">Takes the events of handlers.</param>
    public static FastPortClient Create(JsonObject command, Action<string, JsonObject> report)
    {
        var handlers = new MessageHandlers();
        foreach (JsonNode? handler in command["handlers"]?.AsArray() ?? [])
        {
            Add(handlers, handler!.AsObject(), report);
        }

        var client = new FastPortClient(Options(command), handlers);
        foreach (JsonNode? type in command["relayed"]?.AsArray() ?? [])
        {
            client.OnRelayed((ushort)(int)type!, (scoped in RoutedMessage message) => report("relayed", new JsonObject
            {
                ["type"] = message.Type,
                ["body"] = Hex(message.Body),
                ["from"] = message.From,
            }));
        }

        return client;
    }

    /// <summary>A time in milliseconds; null if there is none.</summary>
    public static TimeSpan? Time(JsonNode? milliseconds) =>
        milliseconds is null ? null : TimeSpan.FromMilliseconds((double)milliseconds);

    public static string Hex(in ReadOnlySequence<byte> body) => Convert.ToHexStringLower(body.ToArray());

    private static void Add(MessageHandlers handlers, JsonObject handler, Action<string, JsonObject> report)
    {
        var type = (ushort)(int)handler["type"]!;
        byte[] body = Convert.FromHexString((string?)handler["body"] ?? string.Empty);
        var code = (ErrorCode)((uint?)handler["code"] ?? 0);
        string message = (string?)handler["message"] ?? string.Empty;
        int count = (int?)handler["count"] ?? 0;
        switch ((string)handler["does"]!)
        {
            case "echo":
                handlers.MapInline(type, (ref InlineRequest request) => request.Reply(request.Body.ToArray()));
                break;
            case "reply":
                handlers.MapInline(type, (ref InlineRequest request) => request.Reply(body));
                break;
            case "fail":
                handlers.MapInline(type, (ref InlineRequest request) => request.Fail(code, message));
                break;
            case "throw":
                handlers.MapInline(type, (ref InlineRequest _) => throw new InvalidOperationException(message));
                break;
            case "record":
                handlers.MapInline(type, (ref InlineRequest request) =>
                {
                    report("message", new JsonObject { ["type"] = type, ["body"] = Hex(request.Body) });
                    if (!request.IsOneWay)
                    {
                        request.Reply([]);
                    }
                });
                break;
            case "wait":
                handlers.MapQueued(type, async context =>
                {
                    report("waiting", new JsonObject { ["type"] = type });
                    await Task.Delay(Timeout.Infinite, context.Aborted).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                    report("canceled", new JsonObject { ["type"] = type });
                });
                break;
            case "items":
                handlers.MapStream(type, Empty.Parser, (Empty _, StreamContext _, CancellationToken token) => Items(token));
                break;
            case "collect":
                handlers.MapStream(type, Empty.Parser, async (IAsyncEnumerable<Empty> requests, StreamContext _, CancellationToken token) =>
                {
                    await foreach (Empty item in requests.WithCancellation(token))
                    {
                        report("message", new JsonObject { ["type"] = type, ["body"] = Convert.ToHexStringLower(item.ToByteArray()) });
                    }

                    return StreamOfCase.ToMessage(body);
                });
                break;
            default:
                throw new InvalidOperationException($"No handler does '{handler["does"]}'.");
        }

        async IAsyncEnumerable<Empty> Items([System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken token)
        {
            try
            {
                for (int i = 0; i < count; i++)
                {
                    await Task.Yield();
                    token.ThrowIfCancellationRequested();
                    yield return StreamOfCase.ToMessage(body);
                }
            }
            finally
            {
                if (token.IsCancellationRequested)
                {
                    report("canceled", new JsonObject { ["type"] = type });
                }
            }
        }
    }
}
