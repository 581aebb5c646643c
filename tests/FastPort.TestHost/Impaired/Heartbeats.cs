namespace FastPort.TestHost.Impaired;

/// <summary>Waits for the heartbeats of idle sessions, which receive nothing else.</summary>
internal static class Heartbeats
{
    // Nothing signals a Ping or its reply.
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    /// <summary>Completes when each session that is open now has received so many more messages, or has ended.</summary>
    public static async Task WaitAsync(IEnumerable<Session> open, int count)
    {
        foreach ((Session session, long before) in open.Select(static s => (s, s.MessagesReceived)).ToArray())
        {
            while (session.MessagesReceived < before + count && !session.IsClosed)
            {
                await Task.Delay(Pause);
            }
        }
    }
}
