namespace FastPort.OpcUa.Client;

/// <summary>How a client got its session.</summary>
public enum SessionRecovery
{
    /// <summary>It is the client's first session: there was nothing to recover.</summary>
    None,

    /// <summary>After a lost connection it is the same session: the server has kept it and its subscriptions.</summary>
    Resumed,

    /// <summary>
    /// After a lost connection it is a new session, for example after a restart of the server. Indexes of namespaces may have changed, and
    /// registered nodes are gone.
    /// </summary>
    Replaced,
}
