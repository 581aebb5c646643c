using System.Diagnostics.CodeAnalysis;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>Creates links to the listener of a name.</summary>
internal sealed class InProcessConnector(Endpoint endpoint, ConnectionSettings settings, int? spinMicroseconds) : ITransportConnector
{
    [SuppressMessage("Design", "MA0042:Do not use blocking calls in an async method", Justification = "Nothing here waits.")]
    public ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<Connection>(cancellationToken);
        }

        return InProcessListener.Find(endpoint.Host)?.Connect(settings, spinMicroseconds) is { } connection
            ? new ValueTask<Connection>(connection)
            : ValueTask.FromException<Connection>(new EndpointException(
                endpoint,
                $"Cannot connect to {endpoint}: nothing listens there in this process. Is the server running, and in this process?"));
    }
}
