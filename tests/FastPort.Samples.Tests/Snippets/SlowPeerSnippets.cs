namespace FastPort.Samples.Tests.Snippets;

/// <summary>A peer that stops reading, shown in docs/sessions.md.</summary>
internal static class SlowPeerSnippets
{
    // docs: slow-peer
    public static FastPortServer Feed(SendQueueFullPolicy whenFull, Action<Session, CloseReason> closed)
    {
        var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } };
        options.Session.SendQueueBytes = 256 * 1024;
        options.Session.SendQueueFull = whenFull;
        options.Session.WriteTimeout = TimeSpan.FromSeconds(2);
        var server = new FastPortServer(options);
        server.SessionClosed += closed;
        return server;
    }

    public static SendStatus SendUntilRefused(Session session, byte[] update)
    {
        SendStatus status;
        do
        {
            status = session.TrySend(0x1010, update);
        }
        while (status == SendStatus.Queued);
        return status;
    }

    // docs: end
}
