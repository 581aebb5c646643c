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
    /// Whether the server may have executed the request: it was sent, and no answer came before the connection or the time ended. The same
    /// applies to a Call or a Write whose answer cannot be read, or is BadTimeout, BadRequestTimeout or BadResponseTooLarge, which the
    /// server may send after it has executed the request. If false, the server refused the request or never received it, so that it can be
    /// sent again. Defaults to false.
    /// </summary>
    public bool MayHaveExecuted { get; init; }
}
