namespace FastPort.Client.Load;

/// <summary>The kind of a load run.</summary>
internal enum LoadMode
{
    /// <summary>Requests and replies; the client verifies the payload of every reply.</summary>
    Echo,

    /// <summary>One-way messages to the server, which counts them.</summary>
    Sink,

    /// <summary>One-way messages from the server; the client counts them.</summary>
    Source,
}
