namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// A task for a loop, posted by any thread. A task is in at most one inbox, at most once; the thread that posts it ensures that.
/// </summary>
internal interface ILoopTask
{
    /// <summary>The task posted before, while this one waits; used only by the inbox.</summary>
    ILoopTask? Next { get; set; }

    /// <summary>Runs the task, on the loop.</summary>
    void RunOnLoop();
}

/// <summary>Owner of a descriptor that a loop watches.</summary>
internal interface ILoopHandler
{
    /// <summary>The descriptor is ready; called on the loop.</summary>
    /// <param name="events">The epoll events.</param>
    void OnReady(uint events);
}
