using System.Collections.Concurrent;
using System.Net;
using FastPort.Connections;
using FastPort.Limits;
using FastPort.Telemetry;

namespace FastPort.Hosting;

/// <summary>
/// Counts connections, in total and per address, and refuses those above the limits and rates, and banned ones. Thread-safe.
/// </summary>
/// <param name="maxConnections">Maximum number of connections in total.</param>
/// <param name="maxPerAddress">
/// Maximum number of connections per address, 0 for no limit. Null for a quarter of the total, without a limit for loopback addresses.
/// </param>
/// <param name="rates">Rates of connections. Defaults to none.</param>
/// <param name="bans">Bans. Defaults to none.</param>
/// <param name="descriptors">The descriptors that connections take. Defaults to none: they are counted elsewhere.</param>
internal sealed class Admission(
    int maxConnections,
    int? maxPerAddress,
    RateLimiter? rates = null,
    BanCheck? bans = null,
    ConnectionDescriptors? descriptors = null)
{
    private readonly ConcurrentDictionary<IPNetwork, int> _perAddress = new();
    private int _count;

    /// <summary>Connections admitted and not yet ended.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Maximum number of admitted connections: fewer than configured if the process does not have enough descriptors.</summary>
    public int MaxConnections => Math.Min(maxConnections, descriptors?.Max ?? int.MaxValue);

    /// <summary>Maximum number of admitted connections per address; 0 for no limit.</summary>
    public int MaxPerAddress => maxPerAddress ?? Math.Max(1, MaxConnections / 4);

    /// <summary>Admits a connection (null), or returns why not. <see cref="Leave"/> must be called once for each admitted one.</summary>
    /// <param name="remote">The peer's address; null if it is not known yet.</param>
    /// <param name="why">The sentence for the log, if the reason alone is not enough.</param>
    public ConnectionRejection? TryEnter(EndPoint? remote, out string? why)
    {
        if (Refuse(remote, isKnown: remote is not null, out why) is { } refused)
        {
            return refused;
        }

        if (Interlocked.Increment(ref _count) > maxConnections)
        {
            Interlocked.Decrement(ref _count);
            return ConnectionRejection.ConnectionLimit;
        }

        if (descriptors is not null && !descriptors.TryTake(out int max))
        {
            Interlocked.Decrement(ref _count);
            why = $"this process has descriptors for {max} connections";
            return ConnectionRejection.ConnectionLimit;
        }

        if (!TryAdd(remote))
        {
            FreePlace();
            return ConnectionRejection.AddressLimit;
        }

        return null;
    }

    /// <summary>
    /// Counts an admitted connection under another address (null), or returns why not. The connection then keeps the old one.
    /// </summary>
    /// <param name="from">The old address; null if it was not known.</param>
    /// <param name="to">The new one; null if the peer has none.</param>
    /// <param name="why">The sentence for the log, if the reason alone is not enough.</param>
    public ConnectionRejection? TryMove(EndPoint? from, EndPoint? to, out string? why)
    {
        if (Refuse(to, isKnown: true, out why) is { } refused)
        {
            return refused;
        }

        if (!TryAdd(to))
        {
            return ConnectionRejection.AddressLimit;
        }

        Remove(from);
        return null;
    }

    public void Leave(EndPoint? remote)
    {
        FreePlace();
        Remove(remote);
    }

    private void FreePlace()
    {
        Interlocked.Decrement(ref _count);
        descriptors?.Give();
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
            _perAddress.TryRemove(new KeyValuePair<IPNetwork, int>(address, 0));
        }
    }

    // Bans first: a banned peer uses up no rate. Before the address is known, none is charged: the connection is charged once.
    private ConnectionRejection? Refuse(EndPoint? remote, bool isKnown, out string? why)
    {
        if (bans?.Find(remote) is { } ban)
        {
            why = ban.ToString();
            return ConnectionRejection.Banned;
        }

        why = isKnown ? rates?.TryConnect(remote) : null;
        return why is null ? null : ConnectionRejection.RateLimit;
    }

    // Null if there is no limit.
    private IPNetwork? CountedAddress(EndPoint? remote) =>
        MaxPerAddress == 0 || (maxPerAddress is null && remote is IPEndPoint { Address: { } address } && IPAddress.IsLoopback(address))
            ? null
            : AddressNetworks.CountedAs(remote);
}
