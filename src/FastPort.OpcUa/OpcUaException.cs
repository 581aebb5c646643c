namespace FastPort.OpcUa;

/// <summary>A call to a server has failed. The message says which endpoint, which service and which status.</summary>
public sealed class OpcUaException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="status">The status.</param>
    /// <param name="message">What failed and why.</param>
    /// <param name="inner">The cause. Defaults to none.</param>
    public OpcUaException(StatusCode status, string message, Exception? inner = null)
        : base(message, inner) => Status = status;

    /// <summary>The status.</summary>
    public StatusCode Status { get; }

    /// <summary>
    /// Whether the server may have executed the request: it was sent, and no answer came before the connection or the time ended. So it is
    /// with a Call or a Write whose answer cannot be read, or is BadTimeout, BadRequestTimeout or BadResponseTooLarge, which may come after
    /// the request was executed. If false, the server refused it or never got it, so that it can be sent again. Defaults to false.
    /// </summary>
    public bool MayHaveExecuted { get; init; }
}
