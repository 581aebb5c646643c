using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// Connections between two ends in one process, by name: <c>inproc://name</c>. Names belong to the process, whichever instance of this class uses them.
/// Bytes are handed over in memory, without system calls while both ends are at work, and without a copy. Thread-safe.
/// </summary>
public sealed class InProcessTransport : ITransport
{
    /// <inheritdoc/>
    public bool Supports(string scheme) => scheme == "inproc";

    /// <inheritdoc/>
    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) => new InProcessListener(endpoint, settings);

    /// <inheritdoc/>
    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) => new InProcessConnector(endpoint, settings);
}
