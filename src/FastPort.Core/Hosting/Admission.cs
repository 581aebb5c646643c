using System.Collections.Concurrent;
using System.Net;
using FastPort.Telemetry.Counters;

namespace FastPort.Hosting;

/// <summary>Counts connections, in total and per address, and refuses those above the limits. Thread-safe.</summary>
/// <param name="maxConnections">Maximum number of connections in total.</param>
/// <param name="maxPerAddress">
/// Maximum number of connections per address, 0 for no limit. Null for a quarter of the total, without a limit for loopback addresses.
/// </param>
internal sealed class Admission(int maxConnections, int? maxPerAddress)
{
    private readonly ConcurrentDictionary<IPAddress, int> _perAddress = new();
    private volatile int _maxConnections = maxConnections;
    private int _count;

    /// <summary>Connections admitted and not yet ended.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Maximum number of admitted connections. Set at the start, before and after the listeners.</summary>
    public int MaxConnections
    {
        get => _maxConnections;
        set => _maxConnections = value;
    }

    /// <summary>Maximum number of admitted connections per address; 0 for no limit.</summary>
    public int MaxPerAddress { get; } = maxPerAddress ?? Math.Max(1, maxConnections / 4);

    /// <summary>Admits a connection (null), or returns why not. <see cref="Leave"/> must be called once for each admitted one.</summary>
    public ConnectionRejection? TryEnter(EndPoint? remote)
    {
        if (Interlocked.Increment(ref _count) > MaxConnections)
        {
            Interlocked.Decrement(ref _count);
            return ConnectionRejection.ConnectionLimit;
        }

        if (!TryAdd(remote))
        {
            Interlocked.Decrement(ref _count);
            return ConnectionRejection.AddressLimit;
        }

        return null;
    }

    /// <summary>
    /// Counts an admitted connection under another address. If that address is at its limit, the connection keeps the old one and false is
    /// returned.
    /// </summary>
    public bool TryMove(EndPoint? from, EndPoint? to)
    {
        if (!TryAdd(to))
        {
            return false;
        }

        Remove(from);
        return true;
    }

    public void Leave(EndPoint? remote)
    {
        Interlocked.Decrement(ref _count);
        Remove(remote);
    }

    private bool TryAdd(EndPoint? remote)
    {
        if (CountedAddress(remote) is { } address && _perAddress.AddOrUpdate(address, 1, static (_, n) => n + 1) > MaxPerAddress)
        {
            Remove(remote);
            return false;
        }

        return true;
    }

    private void Remove(EndPoint? remote)
    {
        if (CountedAddress(remote) is { } address && _perAddress.AddOrUpdate(address, 0, static (_, n) => n - 1) == 0)
        {
            // Only if the count is still 0: another thread may have added a connection.
            _perAddress.TryRemove(new KeyValuePair<IPAddress, int>(address, 0));
        }
    }

    // An IPv6 host usually has all addresses of a /64 network, so the network is counted. Null if there is no limit.
    private IPAddress? CountedAddress(EndPoint? remote)
    {
        if (MaxPerAddress == 0
            || remote is not IPEndPoint { Address: { } address }
            || (maxPerAddress is null && IPAddress.IsLoopback(address)))
        {
            return null;
        }

        if (address.IsIPv4MappedToIPv6)
        {
            return address.MapToIPv4();
        }

        Span<byte> bytes = stackalloc byte[16];
        if (!address.TryWriteBytes(bytes, out int written) || written < bytes.Length)
        {
            return address;
        }

        bytes[8..].Clear();
        return new IPAddress(bytes);
    }
}
