namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// Something to do on a loop, asked for by any thread. Waits in one inbox at most, once at most: whoever posts it makes sure of that.
/// </summary>
internal interface ILoopTask
{
    /// <summary>The task posted before, while this one waits; the inbox's own.</summary>
    ILoopTask? Next { get; set; }

    /// <summary>Does it, on the loop.</summary>
    void RunOnLoop();
}

/// <summary>Owner of a descriptor that a loop watches.</summary>
internal interface ILoopHandler
{
    /// <summary>The descriptor is ready; called on the loop.</summary>
    /// <param name="events">The epoll events.</param>
    void OnReady(uint events);
}
