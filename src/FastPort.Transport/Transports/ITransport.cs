using System.Diagnostics.CodeAnalysis;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>Carries the bytes of connections for the URI schemes it serves: creates listeners and connectors.</summary>
[Experimental("FASTPORT001")]
public interface ITransport
{
    /// <summary>Whether the transport serves endpoints with this scheme.</summary>
    /// <param name="scheme">URI scheme in lower case: <c>tcp</c>.</param>
    bool Supports(string scheme);

    /// <summary>Creates a listener that is not yet bound.</summary>
    /// <param name="endpoint">Where to listen.</param>
    /// <param name="settings">Settings of its connections.</param>
    ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings);

    /// <summary>Creates a connector.</summary>
    /// <param name="endpoint">Where to connect to.</param>
    /// <param name="settings">Settings of its connections.</param>
    ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings);
}

/// <summary>Accepts connections at one endpoint.</summary>
[Experimental("FASTPORT001")]
public interface ITransportListener : IAsyncDisposable
{
    /// <summary>The endpoint; after <see cref="Start"/> with the port that was bound.</summary>
    Endpoint Endpoint { get; }

    /// <summary>
    /// Binds and begins to accept. Each connection is handed over once, not yet started; the receiver starts or aborts it.
    /// </summary>
    /// <param name="accepted">Receives the connections; must not block.</param>
    /// <exception cref="EndpointException">The endpoint cannot be bound; the message says which and why.</exception>
    void Start(Action<Connection> accepted);

    /// <summary>Stops accepting; connections already handed over stay open. Idempotent.</summary>
    ValueTask StopAsync();

    /// <summary>The same as <see cref="StopAsync"/>.</summary>
    [SuppressMessage("Usage", "CA1816", Justification = "An interface has no finalizer to suppress.")]
    ValueTask IAsyncDisposable.DisposeAsync() => StopAsync();
}

/// <summary>Opens outgoing connections to one endpoint.</summary>
public interface ITransportConnector
{
    /// <summary>Connects. The connection is not yet started.</summary>
    /// <param name="cancellationToken">Cancels the attempt.</param>
    /// <exception cref="EndpointException">The endpoint cannot be reached; the message says which and why.</exception>
    /// <exception cref="OperationCanceledException">The attempt was canceled.</exception>
    ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken);
}
