using FastPort.Connections;
using FastPort.Transports.Epoll;

namespace FastPort.Transports.InProcess;

/// <summary>
/// Connections between two ends in one process, by name: <c>inproc://name</c>. Names are shared by all instances of this class. Bytes are
/// handed over in memory, without a copy, and without system calls while both ends are busy. Thread-safe.
/// </summary>
internal sealed class InProcessTransport : ITransport
{
    private readonly int? _spinMicroseconds;

    /// <summary>Creates the transport.</summary>
    /// <param name="spinMicroseconds">
    /// How long an end created here spins before it rests, in microseconds, 0 to 1,000,000; each end of a link has its own value. The end
    /// spins on a pool thread and stops early if other work waits for one. Defaults to null: adaptive, as
    /// <see cref="EpollOptions.SpinMicroseconds"/>.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">The value is outside its range.</exception>
    public InProcessTransport(int? spinMicroseconds = null)
    {
        if (spinMicroseconds is < 0 or > EpollOptions.MaxSpinMicroseconds)
        {
            throw new ArgumentOutOfRangeException(
                nameof(spinMicroseconds), spinMicroseconds,
                $"Allowed are values from 0 to {EpollOptions.MaxSpinMicroseconds}, or null for adaptive.");
        }

        _spinMicroseconds = spinMicroseconds;
    }

    /// <inheritdoc/>
    public bool Supports(string scheme) => scheme == "inproc";

    /// <inheritdoc/>
    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) =>
        new InProcessListener(endpoint, settings, _spinMicroseconds);

    /// <inheritdoc/>
    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) =>
        new InProcessConnector(endpoint, settings, _spinMicroseconds);
}
