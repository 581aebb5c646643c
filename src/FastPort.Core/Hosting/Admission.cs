using System.Collections.Concurrent;
using System.Net;
using FastPort.Telemetry;

namespace FastPort.Hosting;

/// <summary>Counts connections, in all and per address, and refuses those above the limits. Thread-safe.</summary>
internal sealed class Admission(int maxConnections, int maxPerAddress)
{
    private readonly ConcurrentDictionary<IPAddress, int> _perAddress = new();
    private int _count;

    /// <summary>Connections let in and not yet left.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>How many are let in at a time. Set before the first comes.</summary>
    public int MaxConnections { get; set; } = maxConnections;

    /// <summary>Lets a connection in, or says why not. Each one let in must <see cref="Leave"/> once.</summary>
    public ConnectionRejection? TryEnter(EndPoint? remote)
    {
        if (Interlocked.Increment(ref _count) > MaxConnections)
        {
            Interlocked.Decrement(ref _count);
            return ConnectionRejection.ConnectionLimit;
        }

        if (maxPerAddress > 0 && remote is IPEndPoint { Address: { } address }
            && _perAddress.AddOrUpdate(address, 1, static (_, n) => n + 1) > maxPerAddress)
        {
            Leave(remote);
            return ConnectionRejection.AddressLimit;
        }

        return null;
    }

    public void Leave(EndPoint? remote)
    {
        Interlocked.Decrement(ref _count);
        if (maxPerAddress > 0 && remote is IPEndPoint { Address: { } address }
            && _perAddress.AddOrUpdate(address, 0, static (_, n) => n - 1) == 0)
        {
            // Only where it is still 0: a newcomer's count stays.
            _perAddress.TryRemove(new KeyValuePair<IPAddress, int>(address, 0));
        }
    }
}
