using System.Collections.Concurrent;
using FastPort.Framing;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Wire;
using FastPort.Routing;
using Microsoft.Extensions.Logging;

namespace FastPort.Redis.Relaying;

/// <summary>
/// The known locations of ids, and the relays that wait for a location. A wrong location does no harm: the node there has no claim with
/// that token, forwards the relay, and reports that (<see cref="Forget"/>). Thread-safe.
/// </summary>
internal sealed class LocationLookups(
    ClaimDirectory directory, RelayTransport transport, Membership members, TargetQueues targets, int queueBytes, ILogger logger)
{
    // Locations that are kept; about 100 bytes each, and the id.
    private const int MaxKnown = 1_000_000;

    private readonly ConcurrentDictionary<byte[], Location> _known = new(Utf8Comparer.Instance);
    private readonly ConcurrentDictionary<byte[], Lookup> _running = new(Utf8Comparer.Instance);
    private int _knownCount;
    private long _waitingBytes;

    /// <summary>Memory that relays take here, about.</summary>
    public long WaitingBytes => Volatile.Read(ref _waitingBytes);

    public bool HasRoom => WaitingBytes < queueBytes;

    /// <summary>Whether no relay waits for its target's location.</summary>
    public bool IsIdle => _running.IsEmpty;

    public bool TryGet(ReadOnlySpan<byte> id, out Location location) =>
        _known.GetAlternateLookup<ReadOnlySpan<byte>>().TryGetValue(id, out location);

    /// <summary>The id is not there any more.</summary>
    public void Forget(ReadOnlySpan<byte> id, long token)
    {
        if (TryGet(id, out Location location) && location.Token == token && _known.TryRemove(KeyValuePair.Create(id.ToArray(), location)))
        {
            Interlocked.Decrement(ref _knownCount);
        }
    }

    /// <summary>All locations at a node are out of date.</summary>
    public void ForgetNode(ulong instance)
    {
        foreach (KeyValuePair<byte[], Location> known in _known)
        {
            if (known.Value.Instance == instance && _known.TryRemove(known))
            {
                Interlocked.Decrement(ref _knownCount);
            }
        }
    }

    /// <summary>Looks the target up at Redis and sends the relay there, in the order of the calls for one target.</summary>
    public void Send(byte[] id, WaitingRelay relay)
    {
        Interlocked.Add(ref _waitingBytes, relay.Bytes);
        while (true)
        {
            var begun = new Lookup();
            Lookup lookup = _running.GetOrAdd(id, begun);
            lock (lookup)
            {
                if (lookup.IsDone)
                {
                    continue;
                }

                // If a lookup has ended since the caller found nothing, later relays do not overtake this one.
                lookup.Waiting.Enqueue(relay);
                if (lookup == begun && relay.Hops == 0 && TryGet(id, out Location known) && TrySendWaiting(id, lookup, known, failed: null))
                {
                    return;
                }
            }

            if (lookup == begun)
            {
                _ = RunAsync(id, lookup);
            }

            return;
        }
    }

    private async Task RunAsync(byte[] id, Lookup lookup)
    {
        while (true)
        {
            SendStatus failed = SendStatus.NotFound;
            Location? found = null;
            try
            {
                transport.Counters.LookedUp();
                found = await directory.LookUpAsync(id).ConfigureAwait(false);
            }
            catch (Exception e)
            {
                BackplaneLog.LookupFailed(logger, e.Message);
                failed = SendStatus.Unavailable;
            }

            lock (lookup)
            {
                if (TrySendWaiting(id, lookup, found, failed))
                {
                    return;
                }
            }

            // The id may be elsewhere when there is room.
            await transport.LinkTo(found!.Value.Instance).WhenRoomAsync().ConfigureAwait(false);
        }
    }

    // Under the lookup's lock, in order: relays that come later find the location, or begin another lookup. False if the node with the id
    // is behind: the rest waits here, because one batch of all of it could exceed what Redis buffers for a subscriber. False also if a
    // location that was known before (failed is null) is at a node that accepts no more relays: Redis may have a newer location.
    private bool TrySendWaiting(byte[] id, Lookup lookup, Location? found, SendStatus? failed)
    {
        while (lookup.Waiting.TryPeek(out WaitingRelay relay))
        {
            if (found is { } location && location.Instance == transport.Self)
            {
                // The session has arrived in the meantime, or is ending.
                targets.Deliver(id, relay);
            }
            else
            {
                SendStatus status = found is { } there ? TrySend(id, relay, there) : failed!.Value;
                if (status == SendStatus.Full || (status == SendStatus.NotFound && failed is null))
                {
                    return false;
                }

                if (status != SendStatus.Queued)
                {
                    transport.Settle(relay.Correlation, relay.Origin, id, status);
                }
            }

            lookup.Waiting.Dequeue();
            Interlocked.Add(ref _waitingBytes, -relay.Bytes);
        }

        if (found is { } known && known.Instance != transport.Self)
        {
            Know(id, known);
        }

        lookup.IsDone = true;
        _running.TryRemove(KeyValuePair.Create(id, lookup));
        return true;
    }

    // A relay that was forwarded too often is dropped: the node that Redis names cannot be reached, if it is alive.
    private SendStatus TrySend(byte[] id, in WaitingRelay relay, Location location) => relay.Hops <= RelayEntry.MaxHops
        ? transport.LinkTo(location.Instance).TryRelay(
            relay.Pending, relay.Correlation, relay.Origin, location.Token, relay.Type, relay.Hops, id, new RawBody(relay.Body))
        : members.Members.ContainsKey(location.Instance) ? SendStatus.Unavailable : SendStatus.NotFound;

    /// <summary>The id is there.</summary>
    public void Know(byte[] id, Location location)
    {
        if (_known.TryAdd(id, location))
        {
            if (Interlocked.Increment(ref _knownCount) > MaxKnown)
            {
                _known.Clear();
                Volatile.Write(ref _knownCount, 0);
            }
        }
        else
        {
            _known[id] = location;
        }

        // Its node may have left or begun to leave, and been forgotten, before this was known.
        if (!members.Members.ContainsKey(location.Instance) || transport.FindLink(location.Instance) is { IsLeaving: true })
        {
            Forget(id, location.Token);
        }
    }

    private sealed class Lookup
    {
        public Queue<WaitingRelay> Waiting { get; } = new();

        public bool IsDone { get; set; }
    }
}
