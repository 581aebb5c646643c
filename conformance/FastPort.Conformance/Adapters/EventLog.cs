using System.Text.Json.Nodes;
using System.Threading.Channels;

namespace FastPort.Conformance.Adapters;

/// <summary>The events that a client has reported in one case and no step has taken yet.</summary>
internal sealed class EventLog(ChannelReader<JsonObject> events, Action<string> trace) : IDisposable
{
    // What may come at any time; every other event is the answer to a command or a message of the server.
    private static readonly string[] Unasked = ["connected", "disconnected"];

    private readonly Lock _gate = new();
    private readonly List<JsonObject> _waiting = [];
    private readonly SemaphoreSlim _changed = new(0);
    private readonly CancellationTokenSource _broken = new();
    private string? _problem;

    /// <summary>Canceled when the adapter cannot go on; <see cref="Problem"/> has the reason.</summary>
    public CancellationToken Broken => _broken.Token;

    /// <summary>Why the adapter cannot go on: it has ended or reported trouble, or its output cannot be read. Null if it can.</summary>
    public string? Problem
    {
        get
        {
            lock (_gate)
            {
                return _problem;
            }
        }
    }

    /// <summary>Reads events as they come, until the adapter has ended or until canceled: steps that wait for frames learn of it.</summary>
    public async Task FollowAsync(CancellationToken cancellationToken)
    {
        try
        {
            while (await events.WaitToReadAsync(cancellationToken).ConfigureAwait(false))
            {
                Read();
            }
        }
        catch (OperationCanceledException)
        {
            return;
        }
        catch (CaseFailureException e)
        {
            Break(e.Message);
            return;
        }

        Break("The adapter has ended.");
    }

    /// <summary>Waits for an event of this name, and of this id if one is given.</summary>
    public async Task<JsonObject> TakeAsync(string name, string? id, CancellationToken cancellationToken)
    {
        while (true)
        {
            // The problem comes after the events before it.
            string? problem = Problem;
            if (Find(name, id) is { } found)
            {
                return found;
            }

            if (problem is not null)
            {
                throw new CaseFailureException(problem);
            }

            await _changed.WaitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>The first event that no step has waited for; null if there is none.</summary>
    public string? Unexpected()
    {
        Read();
        lock (_gate)
        {
            return _waiting.Find(static e => !Unasked.Contains(Values.TextOf(e["event"]), StringComparer.Ordinal)) is { } found
                ? Shorten(found.ToJsonString())
                : null;
        }
    }

    public void Dispose()
    {
        _changed.Dispose();
        _broken.Dispose();
    }

    private JsonObject? Find(string name, string? id)
    {
        Read();
        lock (_gate)
        {
            foreach (JsonObject one in _waiting)
            {
                if (Values.TextOf(one["event"]) == name && (id is null || Values.TextOf(one["id"]) == id))
                {
                    _waiting.Remove(one);
                    return one;
                }

                if (id is not null && one["id"] is { } other && Values.TextOf(other) == id)
                {
                    throw new CaseFailureException($"there is {Shorten(one.ToJsonString())} instead");
                }
            }
        }

        return null;
    }

    private void Read()
    {
        string? trouble = null;
        bool isChanged = false;
        lock (_gate)
        {
            while (events.TryRead(out JsonObject? read))
            {
                isChanged = true;
                trace($"event   {Shorten(read.ToJsonString())}");
                _waiting.Add(read);
                if (Values.TextOf(read["event"]) == "trouble")
                {
                    trouble ??= $"The adapter has failed: {Values.TextOf(read["message"])}";
                }
            }
        }

        if (trouble is not null)
        {
            Break(trouble);
        }
        else if (isChanged)
        {
            _changed.Release();
        }
    }

    private void Break(string problem)
    {
        lock (_gate)
        {
            _problem ??= problem;
        }

        _changed.Release();
        _broken.Cancel();
    }

    private static string Shorten(string text) => text.Length <= 300 ? text : $"{text[..300]}...";
}
