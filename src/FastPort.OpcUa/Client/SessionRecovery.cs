namespace FastPort.OpcUa.Client;

/// <summary>How a client came back after it had lost its connection.</summary>
public enum SessionRecovery
{
    /// <summary>With the session of before: the server has kept it and its subscriptions.</summary>
    Resumed,

    /// <summary>
    /// With a new session, for example after a restart of the server. Indexes of namespaces may have changed, and registered nodes are
    /// gone.
    /// </summary>
    Replaced,
}
