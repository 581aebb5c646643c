using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>A way to move bytes, by the URI schemes it serves. Each transport is one listener and one connector behind this.</summary>
public interface ITransport
{
    /// <summary>Whether the transport serves endpoints with this scheme.</summary>
    /// <param name="scheme">URI scheme in lower case: <c>tcp</c>.</param>
    bool Supports(string scheme);

    /// <summary>Makes a listener that is not yet bound.</summary>
    /// <param name="endpoint">Where to listen.</param>
    /// <param name="settings">Settings of its connections.</param>
    ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings);

    /// <summary>Makes a connector.</summary>
    /// <param name="endpoint">Where to connect to.</param>
    /// <param name="settings">Settings of its connections.</param>
    ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings);
}

/// <summary>Accepts connections at one endpoint.</summary>
public interface ITransportListener : IAsyncDisposable
{
    /// <summary>The endpoint; after <see cref="Start"/> with the port that was really bound.</summary>
    Endpoint Endpoint { get; }

    /// <summary>
    /// Binds and begins to accept. Each connection is handed over once, not yet started; whoever takes it starts or aborts it.
    /// </summary>
    /// <param name="accepted">Receives the connections; must not block.</param>
    /// <exception cref="EndpointException">The endpoint cannot be bound; the message says which and why.</exception>
    void Start(Action<Connection> accepted);

    /// <summary>Stops accepting; connections already handed over live on. Idempotent.</summary>
    ValueTask StopAsync();
}

/// <summary>Makes outgoing connections to one endpoint.</summary>
public interface ITransportConnector
{
    /// <summary>Connects. The connection is not yet started.</summary>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="EndpointException">The endpoint cannot be reached; the message says which and why.</exception>
    /// <exception cref="OperationCanceledException">Cancelled.</exception>
    ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken);
}

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
