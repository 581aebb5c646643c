using System.Collections.Concurrent;
using System.Net;
using FastPort.Telemetry.Counters;

namespace FastPort.Hosting;

/// <summary>Counts connections, in all and per address, and refuses those above the limits. Thread-safe.</summary>
/// <param name="maxConnections">Connections in all.</param>
/// <param name="maxPerAddress">
/// Connections of one address, 0 for no limit. Null for a quarter of those in all, and no limit for loopback addresses.
/// </param>
internal sealed class Admission(int maxConnections, int? maxPerAddress)
{
    private readonly ConcurrentDictionary<IPAddress, int> _perAddress = new();
    private int _count;

    /// <summary>Connections let in and not yet left.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>How many are let in at a time. Set before the first comes.</summary>
    public int MaxConnections { get; set; } = maxConnections;

    /// <summary>How many of one address are let in at a time; 0 for no limit.</summary>
    public int MaxPerAddress { get; } = maxPerAddress ?? Math.Max(1, maxConnections / 4);

    /// <summary>Lets a connection in, or says why not. Each one let in must <see cref="Leave"/> once.</summary>
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
    /// A connection that was let in turns out to come from elsewhere. Where that address is at its limit, the connection stays with the old
    /// one, and false is returned.
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
            // Only where it is still 0: a newcomer's count stays.
            _perAddress.TryRemove(new KeyValuePair<IPAddress, int>(address, 0));
        }
    }

    // One host has a network of 64 bits of IPv6, and all of its addresses. Null where there is no limit.
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
