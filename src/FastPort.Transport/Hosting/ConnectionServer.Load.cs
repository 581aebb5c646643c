using FastPort.Hosting;

namespace FastPort.Connections;

/// <content>Figures that are read about once a second.</content>
public sealed partial class ConnectionServer
{
    /// <summary>Reads the current load. Takes no lock of the connections; walks over all of them.</summary>
    internal ServerLoad ReadLoad()
    {
        long pending = 0;
        int blocked = 0;

        // Enumerated without a copy, which would keep accepts waiting.
        foreach ((_, AcceptedConnection accepted) in _accepted)
        {
            Connection connection = accepted.Top;
            pending += connection.PendingBytes;
            blocked += connection.IsSendBlocked ? 1 : 0;
        }

        IReadOnlyList<(long IdleNanoseconds, long Rounds)> loops = _transports.ReadProgress();
        return new ServerLoad(
            Memory.Used,
            Memory.Limit,
            pending,
            blocked,
            [.. loops.Select(static loop => TimeSpan.FromTicks(loop.IdleNanoseconds / TimeSpan.NanosecondsPerTick))],
            [.. loops.Select(static loop => loop.Rounds)]);
    }
}
