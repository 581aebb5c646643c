namespace FastPort.Client.Load;

/// <summary>What a load run does.</summary>
internal enum LoadMode
{
    /// <summary>Requests and replies; every reply's payload is verified.</summary>
    Echo,

    /// <summary>One-way messages to the server, counted there.</summary>
    Sink,

    /// <summary>One-way messages from the server, counted here.</summary>
    Source,
}
