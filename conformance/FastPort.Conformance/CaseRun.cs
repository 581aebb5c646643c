using System.Diagnostics;
using System.Text.Json.Nodes;
using System.Threading.Channels;
using FastPort.Conformance.Adapters;
using FastPort.Conformance.Cases;
using FastPort.Conformance.Serving;
using FastPort.Conformance.Wire;

namespace FastPort.Conformance;

/// <summary>Plays the steps of one case.</summary>
internal sealed class CaseRun
{
    // Types and flags of the frames that a client may send before it ends its output, whatever the case is about.
    private static readonly string[] Farewells = ["Goodbye", "Cancel"];

    private static readonly TimeSpan TimeToEnd = TimeSpan.FromSeconds(15);

    private const uint BarrierCorrelation = 0xfff0_0000;

    private readonly ConformanceCase _case;
    private readonly IAdapter _adapter;
    private readonly ScriptedServer _server;
    private readonly Site _site;
    private readonly Values _values = new();
    private readonly FrameScript _frames;
    private readonly EventLog _events;
    private readonly List<ScriptedConnection> _connections = [];
    private readonly List<string> _trace = [];
    private readonly Stopwatch _time = Stopwatch.StartNew();
    private uint _barriers;

    private CaseRun(ConformanceCase conformanceCase, IAdapter adapter, ScriptedServer server, Site site)
    {
        _case = conformanceCase;
        _adapter = adapter;
        _server = server;
        _site = site;
        _frames = new FrameScript(_values);
        _events = new EventLog(adapter.Events, Trace);
        foreach ((string name, JsonNode? value) in conformanceCase.Values)
        {
            _values.Set(name, value);
        }
    }

    /// <summary>Plays a case. Afterwards the adapter has no client any more, unless the result says that it did not end it.</summary>
    /// <param name="conformanceCase">The case.</param>
    /// <param name="adapter">The client under test.</param>
    /// <param name="site">Where the server listens.</param>
    public static async Task<CaseResult> PlayAsync(ConformanceCase conformanceCase, IAdapter adapter, Site site)
    {
        CaseRun run;
        string problem;
        Task following;
        using var over = new CancellationTokenSource();
        await using (ScriptedServer server = await ScriptedServer.StartAsync(site).ConfigureAwait(false))
        {
            run = new CaseRun(conformanceCase, adapter, server, site);
            following = run._events.FollowAsync(over.Token);
            problem = await run.PlayAsync().ConfigureAwait(false);
            if (problem.Length == 0 && run._events.Unexpected() is { } unexpected)
            {
                problem = $"The client reported what no step expects: {unexpected}";
            }
        }

        string ending = await run.EndAsync().ConfigureAwait(false);
        await over.CancelAsync().ConfigureAwait(false);
        await following.ConfigureAwait(false);
        run._events.Dispose();
        problem = problem.Length != 0 ? problem : ending;
        return new CaseResult(conformanceCase, problem.Length == 0 ? Outcome.Passed : Outcome.Failed, problem, run._trace);
    }

    private async Task<string> PlayAsync()
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(_events.Broken);
        bound.CancelAfter(_case.Within);
        for (int i = 0; i < _case.Steps.Count; i++)
        {
            JsonObject step = _case.Steps[i];
            try
            {
                await StepAsync(step, bound.Token).ConfigureAwait(false);
            }
            catch (Exception e) when (e is CaseFailureException or OperationCanceledException)
            {
                string why = e is OperationCanceledException
                    ? _events.Problem ?? $"nothing came within {_case.Within.TotalSeconds:0.#} s{Untaken()}"
                    : e.Message;
                return $"Step {i + 1}, {step.ToJsonString()}: {why}";
            }
            catch (Exception e) when (e is FormatException or InvalidOperationException or OverflowException)
            {
                throw new FormatException($"{_case.Name}, step {i + 1}, {step.ToJsonString()}: {e.Message}", e);
            }
        }

        return string.Empty;
    }

    // Often the answer to why nothing came: the client has failed to connect.
    private string Untaken() => _events.Unexpected() is { } untaken ? $", but no step has waited for the event {untaken}" : string.Empty;

    // The adapter's client ends, with whatever it still has open.
    private async Task<string> EndAsync()
    {
        Trace("client  end");
        _adapter.Send(new JsonObject { ["do"] = "end" });
        using var bound = new CancellationTokenSource(TimeToEnd);
        try
        {
            await _events.TakeAsync("ended", null, bound.Token).ConfigureAwait(false);
            return string.Empty;
        }
        catch (CaseFailureException e)
        {
            return $"The adapter did not end its client: {e.Message}";
        }
        catch (OperationCanceledException)
        {
            return $"The adapter did not end its client within {TimeToEnd.TotalSeconds} s: there is no event 'ended'.";
        }
    }

    private Task StepAsync(JsonObject step, CancellationToken cancellationToken)
    {
        (string verb, JsonNode? value) = step.First();
        switch (verb)
        {
            case "open":
                return OpenAsync(value!.AsObject(), cancellationToken);
            case "client":
                Command(Values.TextOf(value), step);
                return Task.CompletedTask;
            case "event":
                return EventAsync(Values.TextOf(value), step, cancellationToken);
            case "accept":
                return AcceptAsync(int.Parse(Values.TextOf(value)), cancellationToken);
            case "expect":
                return ExpectAsync(value!, step, cancellationToken);
            case "send":
                Send(value!, step);
                return Task.CompletedTask;
            case "bytes":
                SendBytes(step, Bytes.Parse(Values.TextOf(_values.Resolve(value))), $"bytes {Values.TextOf(value)}");
                return Task.CompletedTask;
            case "barrier":
                return BarrierAsync(step, cancellationToken);
            case "ends":
                return EndsAsync(step, cancellationToken);
            case "end":
                Trace($"server  ends the connection{Where(step)}");
                On(step).End();
                return Task.CompletedTask;
            case "cut":
                Trace($"server  cuts the connection{Where(step)}");
                return On(step).CutAsync();
            default:
                throw new FormatException($"There is no step '{verb}'.");
        }
    }

    // What nearly every case begins with: connect, Hello, Welcome.
    private async Task OpenAsync(JsonObject open, CancellationToken cancellationToken)
    {
        JsonObject welcome = new() { ["sessionId"] = 1, ["extensions"] = 0xffff_ffff };
        foreach ((string name, JsonNode? value) in open["welcome"]?.AsObject() ?? [])
        {
            welcome[name] = value?.DeepClone();
        }

        if (open["again"] is null)
        {
            Command("connect", open["options"]?.AsObject() ?? []);
        }

        await AcceptAsync(_connections.Count + 1, cancellationToken).ConfigureAwait(false);
        JsonObject hello = new() { ["expect"] = "Hello", ["as"] = "hello" };
        await ExpectAsync("Hello", hello, cancellationToken).ConfigureAwait(false);
        Send("Welcome", new JsonObject { ["send"] = "Welcome", ["to"] = "hello", ["fields"] = welcome });
        await EventAsync("connected", [], cancellationToken).ConfigureAwait(false);
    }

    private void Command(string command, JsonObject step)
    {
        var line = new JsonObject { ["do"] = command };
        foreach ((string name, JsonNode? value) in step)
        {
            if (name is not "client")
            {
                line[name] = InHex(name, _values.Resolve(value));
            }
        }

        if (command == "connect")
        {
            line["endpoint"] = _server.Endpoint;
            if (_site.IsEncrypted)
            {
                line["authority"] = _site.Certificate.AuthorityFile;
            }
        }

        Trace($"client  {Short(line.ToJsonString())}");
        _adapter.Send(line);
    }

    // Bodies in commands and events are hexadecimal, types are numbers.
    private static JsonNode? InHex(string name, JsonNode? value) => (name, value) switch
    {
        (_, JsonArray items) => new JsonArray([.. items.Select(item => InHex(name, item?.DeepClone()))]),
        (_, JsonObject fields) => new JsonObject(
            fields.Select(static field => KeyValuePair.Create(field.Key, InHex(field.Key, field.Value?.DeepClone())))),
        ("body" or "value", not null) => Convert.ToHexStringLower(Bytes.Parse(Values.TextOf(value))),
        ("type", not null) => JsonNode.Parse(Values.TextOf(value)),
        _ => value,
    };

    private async Task EventAsync(string name, JsonObject step, CancellationToken cancellationToken)
    {
        string? id = step["id"] is { } given ? Values.TextOf(given) : null;
        JsonObject found = await _events.TakeAsync(name, id, cancellationToken).ConfigureAwait(false);
        foreach ((string key, JsonNode? expected) in step)
        {
            if (key is not ("event" or "id")
                && _values.Mismatch(key, InHex(key, _values.ResolveKnown(expected)), found[key]) is { } problem)
            {
                throw new CaseFailureException(problem);
            }
        }
    }

    private async Task AcceptAsync(int number, CancellationToken cancellationToken)
    {
        if (number != _connections.Count + 1)
        {
            throw new FormatException($"The next connection is number {_connections.Count + 1}.");
        }

        _connections.Add(await _server.AcceptAsync(cancellationToken).ConfigureAwait(false));
        Trace($"client  opens connection {number}");
    }

    private async Task ExpectAsync(JsonNode expected, JsonObject step, CancellationToken cancellationToken)
    {
        List<JsonObject> left = expected is JsonArray several ? [.. several.Select(static one => one!.AsObject())] : [step];
        while (left.Count != 0)
        {
            Frame frame = await NextFrameAsync(step, cancellationToken).ConfigureAwait(false);
            List<string?> problems = left.ConvertAll(one => _frames.Mismatch(one, frame));
            int index = problems.IndexOf(null);
            if (index < 0)
            {
                if (IsAllowed(step, frame))
                {
                    continue;
                }

                throw new CaseFailureException($"{problems[0]}. The frame: {MessageKind.Describe(frame)}");
            }

            left.RemoveAt(index);
        }
    }

    private async Task<Frame> NextFrameAsync(JsonObject step, CancellationToken cancellationToken)
    {
        try
        {
            Frame frame = await On(step).Frames.ReadAsync(cancellationToken).ConfigureAwait(false);
            Trace($"client  sends{Where(step)} {MessageKind.Describe(frame)}");
            return frame;
        }
        catch (ChannelClosedException e)
        {
            throw new CaseFailureException(e.InnerException?.Message ?? "the client has ended the connection instead");
        }
    }

    private void Send(JsonNode what, JsonObject step)
    {
        List<JsonObject> all = what is JsonArray several ? [.. several.Select(static one => one!.AsObject())] : [step];
        byte[] bytes = [.. all.SelectMany(one => _frames.Write(Values.TextOf(one["send"]), one))];
        foreach (JsonObject one in all.Where(static one => Values.TextOf(one["send"]) == "Welcome"))
        {
            JsonNode? fields = _values.Resolve(one["fields"]);
            On(step).Agree(Number(fields?["extensions"]), Number(fields?["maxFrameBytes"]));
        }

        SendBytes(step, bytes, string.Join(" and ", all.Select(static one => Short(one.ToJsonString()))));

        static uint Number(JsonNode? value) => value is null ? 0 : uint.Parse(Values.TextOf(value));
    }

    private void SendBytes(JsonObject step, byte[] bytes, string what)
    {
        Trace($"server  {what}{Where(step)}");
        int piece = step["pieces"] is { } size ? int.Parse(Values.TextOf(_values.Resolve(size))) : Math.Max(bytes.Length, 1);
        foreach (byte[] part in bytes.Chunk(piece))
        {
            On(step).Send(part);
        }
    }

    // What the client sends before the reply to a Ping is all that it sends by itself.
    private async Task BarrierAsync(JsonObject step, CancellationToken cancellationToken)
    {
        _barriers += 1;
        var ping = new Frame(0x0002, 0, BarrierCorrelation + _barriers, []);
        SendBytes(step, ping.ToBytes(), "Ping, a barrier");
        while (true)
        {
            Frame frame = await NextFrameAsync(step, cancellationToken).ConfigureAwait(false);
            if (MessageKind.Get("Pong").Fits(frame) && frame.Correlation == ping.Correlation && frame.Body.Length == 0)
            {
                return;
            }

            if (!IsAllowed(step, frame))
            {
                throw new CaseFailureException(
                    $"the client sent {MessageKind.NameOf(frame)} before the reply to a Ping: it must not. "
                    + $"The frame: {MessageKind.Describe(frame)}");
            }
        }
    }

    private async Task EndsAsync(JsonObject step, CancellationToken cancellationToken)
    {
        ChannelReader<Frame> frames = On(step).Frames;
        try
        {
            while (await frames.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
            {
                while (frames.TryRead(out Frame? frame))
                {
                    Trace($"client  sends{Where(step)} {MessageKind.Describe(frame)}");
                    if (!Array.Exists(Farewells, name => MessageKind.Get(name).Fits(frame)) && !IsAllowed(step, frame))
                    {
                        throw new CaseFailureException(
                            $"the client sent {MessageKind.NameOf(frame)} where it must end the connection. "
                            + $"The frame: {MessageKind.Describe(frame)}");
                    }
                }
            }
        }
        catch (ChannelClosedException e)
        {
            throw new CaseFailureException(e.InnerException!.Message);
        }

        Trace($"client  has ended the connection{Where(step)}");
    }

    private bool IsAllowed(JsonObject step, Frame frame) =>
        (step["allow"]?.AsArray() ?? []).Any(one => _frames.Mismatch(one!.AsObject(), frame) is null);

    private ScriptedConnection On(JsonObject step)
    {
        int number = step["on"] is { } given ? int.Parse(Values.TextOf(given)) : _connections.Count;
        return number >= 1 && number <= _connections.Count
            ? _connections[number - 1]
            : throw new FormatException($"There is no connection {number}.");
    }

    private static string Where(JsonObject step) => step["on"] is { } given ? $" on connection {Values.TextOf(given)}" : string.Empty;

    private static string Short(string text) => text.Length <= 300 ? text : $"{text[..300]}...";

    private void Trace(string line)
    {
        lock (_trace)
        {
            _trace.Add($"{_time.ElapsedMilliseconds,5} ms  {line}");
        }
    }
}
