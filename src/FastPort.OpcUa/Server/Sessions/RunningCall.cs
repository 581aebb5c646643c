namespace FastPort.OpcUa.Server;

/// <summary>A request that is answered later, because methods or handlers of the application run: a Cancel can end it.</summary>
internal sealed class RunningCall
{
    // One method over all items of a session takes a few milliseconds of the loop; a request can name a hundred of them.
    private const int MaxItems = 100_000;

    private readonly ServerSession _session;
    private readonly ServerChannel _channel;

    // Not disposed, because a Cancel may still use it; it has nothing to dispose.
    private readonly CancellationTokenSource _cancellation = new();
    private CancellationTokenRegistration _ended;
    private long _items;

    private RunningCall(in ServiceCall call)
    {
        _session = call.Session!;
        _channel = call.Channel;
        RequestHandle = call.Header.RequestHandle;
    }

    /// <summary>The client's number of the request.</summary>
    public uint RequestHandle { get; }

    /// <summary>Notifies the application that the client needs no result, or has gone.</summary>
    public CancellationToken Token => _cancellation.Token;

    /// <summary>Null if the session already has too many, or the channel, where those of ended sessions may continue.</summary>
    public static RunningCall? TryBegin(in ServiceCall call)
    {
        int most = call.Server.Options.MaxRunningRequestsPerSession;
        var running = new RunningCall(call);
        lock (call.Session!.Gate)
        {
            if (call.Session.Calls.Count >= most || call.Channel.RunningCalls >= most)
            {
                return null;
            }

            call.Session.Calls.Add(running);
            call.Channel.CountRunningCalls(1);
            if (call.Session.IsEnded)
            {
                running.Cancel();
            }
        }

        running._ended = call.Channel.Ended.UnsafeRegister(
            static source => ((CancellationTokenSource)source!).Cancel(), running._cancellation);
        return running;
    }

    /// <summary>
    /// Whether methods of the request may examine this many more monitored items; the first is always allowed. Called by one method at a
    /// time.
    /// </summary>
    public bool TryTakeItems(int count)
    {
        if (_items != 0 && _items + count > MaxItems)
        {
            return false;
        }

        _items += count;
        return true;
    }

    /// <summary>Callbacks of the token run on another thread, because the caller may hold locks.</summary>
    public void Cancel() => _ = _cancellation.CancelAsync();

    /// <summary>The work has ended. Returns whether the client still wants its result.</summary>
    public bool End()
    {
        _ended.Unregister();
        lock (_session.Gate)
        {
            _session.Calls.Remove(this);
        }

        _channel.CountRunningCalls(-1);

        return !_cancellation.IsCancellationRequested;
    }
}
