using System.Diagnostics.CodeAnalysis;
using FastPort.Connections;
using FastPort.Transports.Epoll;

namespace FastPort.Transports.InProcess;

/// <summary>
/// Connections between two ends in one process, by name: <c>inproc://name</c>. Names are shared by all instances of this class. Bytes are
/// handed over in memory, without a copy, and without system calls while both ends are busy. Thread-safe.
/// </summary>
/// <param name="spinMicroseconds">
/// How long an end created here spins before it rests, in microseconds, as <see cref="EpollOptions.SpinMicroseconds"/>; each end of a link
/// has its own value. The end spins on a pool thread and stops early if other work waits for one.
/// </param>
internal sealed class InProcessTransport(int? spinMicroseconds = null) : ITransport
{
    /// <inheritdoc/>
    public bool Supports(string scheme) => scheme == "inproc";

    /// <inheritdoc/>
    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) =>
        new InProcessListener(endpoint, settings, spinMicroseconds);

    /// <inheritdoc/>
    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) =>
        new InProcessConnector(endpoint, settings, spinMicroseconds);
}

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
