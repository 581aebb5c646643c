namespace FastPort;

/// <summary>An endpoint cannot be bound or reached.</summary>
public sealed class EndpointException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="message">What went wrong and what to do.</param>
    /// <param name="inner">The cause.</param>
    public EndpointException(Endpoint endpoint, string message, Exception? inner = null)
        : base(message, inner) => Endpoint = endpoint;

    /// <summary>The endpoint that cannot be bound or reached.</summary>
    public Endpoint Endpoint { get; }
}
