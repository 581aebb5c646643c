namespace FastPort.Sessions.Requests;

/// <summary>A request that is being handled, whose sender has set a time limit.</summary>
internal interface IDeadline
{
    /// <summary>The time left of the limit, at least zero; null once the handler has ended.</summary>
    TimeSpan? TimeLeft { get; }
}

/// <summary>
/// The deadline of the request that the current flow handles. A call that a handler makes has at most the time that its own caller still
/// waits. The flow that a handler leaves behind has no deadline once the handler has ended.
/// </summary>
internal static class CallerDeadline
{
    private static readonly AsyncLocal<IDeadline?> Current = new();

    /// <summary>Sets the deadline for the calling async method and what it calls.</summary>
    public static void Set(IDeadline request) => Current.Value = request;

    /// <summary>The time limit of a call that is made now.</summary>
    /// <param name="timeout">The limit that the call would have; zero or less for none.</param>
    /// <exception cref="RequestFailedException">The deadline has passed.</exception>
    public static TimeSpan Limit(TimeSpan timeout)
    {
        if (Current.Value?.TimeLeft is not { } left)
        {
            return timeout;
        }

        if (left <= TimeSpan.Zero)
        {
            throw new RequestFailedException(
                RequestFailure.TimedOut,
                "The deadline of the request that is being handled has passed; no call is made for it. The request was not sent.");
        }

        return timeout <= TimeSpan.Zero || left < timeout ? left : timeout;
    }
}
