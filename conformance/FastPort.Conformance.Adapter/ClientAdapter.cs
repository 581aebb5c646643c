using System.Collections.Concurrent;
using System.Globalization;
using System.Text.Json.Nodes;
using Google.Protobuf.WellKnownTypes;

namespace FastPort.Conformance.Adapter;

/// <summary>Does the commands of conformance/README.md with a <see cref="FastPortClient"/>, and reports the events.</summary>
internal sealed class ClientAdapter : IAsyncDisposable
{
    private readonly Action<JsonObject> _report;
    private readonly ConcurrentDictionary<string, CancellationTokenSource> _calls = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, StreamOfCase> _streams = new(StringComparer.Ordinal);
    private readonly ConcurrentBag<Task> _running = [];
    private FastPortClient? _client;
    private TagsOfCase? _tags;

    /// <param name="report">Takes the events; called from any thread.</param>
    public ClientAdapter(Action<JsonObject> report)
    {
        _report = report;

        // The number that the server gives to a session is not public.
        Report("ready", new JsonObject { ["name"] = "FastPort for .NET", ["lacks"] = new JsonArray("session-id") });
    }

    private FastPortClient Client => _client ?? throw new InvalidOperationException("The first command must be connect.");

    private TagsOfCase Tags => _tags ?? throw new InvalidOperationException("The first command must be connect with tags.");

    /// <summary>Starts a command. Its result is reported as an event.</summary>
    public void Do(JsonObject command)
    {
        try
        {
            if ((string?)command["do"] == "end")
            {
                _ = ReportEndAsync();
            }
            else
            {
                _running.Add(BeginAsync(command));
            }
        }
        catch (Exception e)
        {
            Report("trouble", new JsonObject { ["message"] = e.ToString() });
        }
    }

    public async ValueTask DisposeAsync() => await EndAsync();

    private Task BeginAsync(JsonObject command)
    {
        string id = (string?)command["id"] ?? (string)command["do"]!;
        ushort type = (ushort?)(int?)command["type"] ?? 0;
        byte[] body = Convert.FromHexString((string?)command["body"] ?? string.Empty);
        TimeSpan? timeout = ClientSettings.Time(command["timeout"]);
        switch ((string)command["do"]!)
        {
            case "connect" when (bool?)command["tags"] == true:
                return ConnectTagsAsync(command);
            case "connect":
                _client = ClientSettings.Create(command, Report);
                _client.Connected += _ => Report("connected");
                _client.Disconnected += (_, reason) => ReportEnd(reason);
                return ConnectAsync();
            case "request":
                return CallAsync(id, "reply", async token => Body(await Client.RequestAsync(type, body, timeout, token)));
            case "send":
                return CallAsync(id, "sent", async token =>
                {
                    await Client.SendAsync(type, body, token);
                    return [];
                });
            case "cancel":
                _calls[id].Cancel();
                return Task.CompletedTask;
            case "stream":
                _streams[id] = new StreamOfCase(Client, command, body, _calls.GetOrAdd(id, static _ => new()).Token);
                return _streams[id].Reply is { } reply
                    ? CallAsync(id, "reply", async _ => Body(await reply))
                    : Task.CompletedTask;
            case "read" when _tags is not null:
                return CallReadAsync(id, "change", Tags.ReadWatchAsync(id));
            case "read":
                return CallReadAsync(id, "item", ReadItemAsync(id));
            case "write":
                _streams[id].Write(body);
                return Task.CompletedTask;
            case "finish":
                _streams[id].Finish();
                return Task.CompletedTask;
            case "subscribe":
                return CallAsync(id, "done", async token =>
                {
                    await Client.SubscribeAsync((string)command["prefix"]!, OnPublished, timeout, token);
                    return [];
                });
            case "unsubscribe":
                return CallAsync(id, "done", async token =>
                {
                    await Client.UnsubscribeAsync((string)command["prefix"]!, timeout, token);
                    return [];
                });
            case "publish":
                return CallAsync(id, "done", async token => new JsonObject
                {
                    ["sessions"] = await Client.PublishAsync((string)command["topic"]!, type, body, timeout, token),
                });
            case "relay":
                return CallAsync(id, "done", async token =>
                {
                    await Client.RelayAsync((string)command["to"]!, type, body, timeout, token);
                    return [];
                });
            case "peers":
                return CallAsync(id, "done", async token => new JsonObject
                {
                    ["ids"] = new JsonArray([.. (await Client.ListPeersAsync(
                        (string)command["prefix"]!, timeout: timeout, cancellationToken: token).ToListAsync(token))
                        .Select(static peer => (JsonNode)peer.RoutingId)]),
                });
            case "readTags":
                return CallAsync(id, "samples", token => Tags.ReadAsync(command, timeout, token));
            case "writeTags":
                return CallAsync(id, "done", token => Tags.WriteAsync(command, timeout, token));
            case "watch":
                Tags.Watch(id, command);
                return Task.CompletedTask;
            case "unwatch":
                return Tags.EndWatchAsync(id);
            case "disconnect":
                return CallAsync(id, "closed", async _ =>
                {
                    await Client.CloseAsync();
                    return [];
                });
            default:
                throw new InvalidOperationException($"There is no command {command["do"]}.");
        }
    }

    private void OnPublished(scoped in RoutedMessage message) => Report("published", new JsonObject
    {
        ["topic"] = message.Address,
        ["type"] = message.Type,
        ["body"] = ClientSettings.Hex(message.Body),
        ["from"] = message.From,
    });

    private async Task ConnectAsync()
    {
        try
        {
            await Client.ConnectAsync();
        }
        catch (Exception e)
        {
            Report("failed", Failure("connect", e));
        }
    }

    private async Task ConnectTagsAsync(JsonObject command)
    {
        try
        {
            _tags = await TagsOfCase.ConnectAsync(command, () => Report("connected"), ReportEnd);
            Report("connected");
        }
        catch (Exception e)
        {
            Report("failed", Failure("connect", e));
        }
    }

    private async Task CallAsync(string id, string success, Func<CancellationToken, Task<JsonObject>> call)
    {
        CancellationToken token = _calls.GetOrAdd(id, static _ => new()).Token;
        try
        {
            JsonObject result = await call(token);
            result["id"] = id;
            Report(success, result);
        }
        catch (Exception e)
        {
            Report("failed", Failure(id, e));
        }
    }

    private async Task<JsonObject?> ReadItemAsync(string id) => await _streams[id].ReadAsync() is { } item ? Body(item) : null;

    private async Task CallReadAsync(string id, string success, Task<JsonObject?> reading)
    {
        try
        {
            JsonObject? read = await reading;
            JsonObject report = read ?? [];
            report["id"] = id;
            Report(read is null ? "done" : success, report);
        }
        catch (Exception e)
        {
            Report("failed", Failure(id, e));
        }
    }

    private async Task ReportEndAsync()
    {
        await EndAsync();
        Report("ended");
    }

    // All events of the client are written before this returns.
    private async Task EndAsync()
    {
        foreach (CancellationTokenSource call in _calls.Values)
        {
            await call.CancelAsync();
        }

        if (_client is not null)
        {
            await _client.DisposeAsync();
        }

        if (_tags is not null)
        {
            await _tags.DisposeAsync();
        }

        await Task.WhenAll(_running);
        _running.Clear();
        _calls.Clear();
        _streams.Clear();
        _client = null;
        _tags = null;
    }

    private static JsonObject Body(byte[] body) => new() { ["body"] = Convert.ToHexStringLower(body) };

    private static JsonObject Failure(string id, Exception failure)
    {
        var report = new JsonObject { ["id"] = id, ["why"] = WhyOf(failure), ["message"] = failure.Message };
        if (failure is RequestFailedException { Failure: null } answer)
        {
            report["code"] = (uint)answer.Code;
            if (!answer.Detail.IsEmpty)
            {
                var detail = Any.Parser.ParseFrom(answer.Detail.Span);
                report["detail"] = new JsonObject
                {
                    ["typeUrl"] = detail.TypeUrl,
                    ["value"] = Convert.ToHexStringLower(detail.Value.Span),
                };
            }
        }

        return report;
    }

    private static string WhyOf(Exception failure) => failure switch
    {
        RequestFailedException { Failure: null } => "error",
        RequestFailedException { Failure: RequestFailure.ConnectionLost } => "connection-lost",
        RequestFailedException { Failure: RequestFailure.TimedOut } or TimeoutException => "timed-out",
        RequestFailedException { Failure: RequestFailure.Closed } => "closed",
        RequestFailedException { Failure: RequestFailure.NotConnected } => "not-connected",
        RequestFailedException { Failure: RequestFailure.NotSupported } => "not-supported",
        OperationCanceledException => "canceled",
        EndpointException => "unreachable",
        ArgumentException or SendFailedException => "too-large",
        _ => string.Create(CultureInfo.InvariantCulture, $"{failure.GetType().Name}"),
    };

    private void ReportEnd(CloseReason reason) =>
        Report("disconnected", new JsonObject { ["code"] = (uint)reason.GetErrorCode(), ["message"] = reason.Message });

    private void Report(string name) => Report(name, []);

    private void Report(string name, JsonObject values)
    {
        values.Insert(0, "event", name);
        _report(values);
    }
}
