using FastPort.Connections;
using FastPort.Transports.Epoll;

namespace FastPort.Transports.InProcess;

/// <summary>
/// Connections between two ends in one process, by name: <c>inproc://name</c>. Names belong to the process, whichever instance of this
/// class uses them. Bytes are handed over in memory, without system calls while both ends are at work, and without a copy. Thread-safe.
/// </summary>
public sealed class InProcessTransport : ITransport
{
    private readonly int? _spinMicroseconds;

    /// <summary>Makes the transport.</summary>
    /// <param name="spinMicroseconds">
    /// How long an end made here looks for work before it rests, in microseconds, 0 to 1,000,000; each end of a link has its own. An
    /// explicit value is obeyed but for one thing: the end spins on a thread of the pool, and gives it up as soon as other work waits for
    /// one. Defaults to null, adaptive as <see cref="EpollOptions.SpinMicroseconds"/> is.
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
