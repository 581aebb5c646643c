using System.Text.Json.Nodes;
using System.Threading.Channels;

namespace FastPort.Conformance.Adapters;

/// <summary>The events that a client has reported and no step has taken yet.</summary>
internal sealed class EventLog(ChannelReader<JsonObject> events, Action<string> trace)
{
    // What may come at any time; every other event is the answer to a command or a message of the server.
    private static readonly string[] Unasked = ["connected", "disconnected"];

    private readonly List<JsonObject> _waiting = [];

    /// <summary>Waits for an event of this name, and of this id if one is given.</summary>
    public async Task<JsonObject> TakeAsync(string name, string? id, CancellationToken cancellationToken)
    {
        for (int next = 0; ; next++)
        {
            while (next == _waiting.Count)
            {
                Take(await events.ReadAsync(cancellationToken).ConfigureAwait(false));
            }

            JsonObject found = _waiting[next];
            if (Values.TextOf(found["event"]) == name && (id is null || Values.TextOf(found["id"]) == id))
            {
                _waiting.RemoveAt(next);
                return found;
            }

            if (Values.TextOf(found["event"]) == "trouble")
            {
                throw new CaseFailureException($"The adapter has failed: {Values.TextOf(found["message"])}");
            }

            if (id is not null && found["id"] is { } other && Values.TextOf(other) == id)
            {
                throw new CaseFailureException($"there is {Shorten(found.ToJsonString())} instead");
            }
        }
    }

    /// <summary>The first event that no step has waited for; null if there is none.</summary>
    public string? Unexpected()
    {
        while (events.TryRead(out JsonObject? read))
        {
            Take(read);
        }

        return _waiting.Find(static e => !Unasked.Contains(Values.TextOf(e["event"]), StringComparer.Ordinal)) is { } found
            ? Shorten(found.ToJsonString())
            : null;
    }

    private void Take(JsonObject read)
    {
        trace($"event   {Shorten(read.ToJsonString())}");
        _waiting.Add(read);
    }

    private static string Shorten(string text) => text.Length <= 300 ? text : $"{text[..300]}...";
}
