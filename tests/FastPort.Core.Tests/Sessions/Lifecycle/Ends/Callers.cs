namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>The threads that make the calls of a course.</summary>
internal enum Callers
{
    /// <summary>The loop.</summary>
    Loop,

    /// <summary>The loop, and other threads while it waits.</summary>
    OtherThreads,

    /// <summary>The loop, and other threads while it waits or is within a burst, a tick or the end of the session.</summary>
    OtherThreadsDuringWork,
}
