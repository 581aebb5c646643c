using System.Collections.Concurrent;
using FastPort.Framing;
using FastPort.Redis.Members;
using FastPort.Routing;

namespace FastPort.Redis.Relaying;

/// <summary>
/// Relays that wait for room in the send queues of sessions of this node, in order for each. A task for each waiting target sends.
/// Thread-safe.
/// </summary>
internal sealed class TargetQueues(RelayTransport transport, IMessageRouter local, Membership members, TimeProvider time, int maxBytes)
{
    // A target that does not read must not use up the room of the others.
    private const int TargetsAtLeast = 16;

    private readonly ConcurrentDictionary<byte[], TargetQueue> _targets = new(Utf8Comparer.Instance);
    private long _bytes;

    /// <summary>Memory that relays take here, about.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Whether relays wait for a target, which later ones must not overtake.</summary>
    public bool Waits(ReadOnlySpan<byte> id) =>
        !_targets.IsEmpty && _targets.GetAlternateLookup<ReadOnlySpan<byte>>().ContainsKey(id);

    /// <summary>Delivers a relay whose target was found at this node, or lets it wait.</summary>
    public void Deliver(byte[] id, in WaitingRelay relay)
    {
        SendStatus status = Waits(id) ? SendStatus.Full : TrySend(id, relay);
        if (status == SendStatus.Full)
        {
            Add(id, relay);
        }
        else
        {
            transport.Settle(relay.Correlation, relay.Origin, id, status);
        }
    }

    /// <summary>Lets a relay wait.</summary>
    public void Add(byte[] id, in WaitingRelay relay)
    {
        if (Interlocked.Add(ref _bytes, relay.Bytes) > maxBytes || !TryEnqueue(id, relay))
        {
            Interlocked.Add(ref _bytes, -relay.Bytes);
            transport.Settle(relay.Correlation, relay.Origin, id, SendStatus.Dropped);
        }
    }

    private bool TryEnqueue(byte[] id, in WaitingRelay relay)
    {
        while (true)
        {
            var begun = new TargetQueue();
            TargetQueue queue = _targets.GetOrAdd(id, begun);
            lock (queue)
            {
                // An empty queue is removed from the table under its lock.
                if (queue != begun && queue.Relays.Count == 0)
                {
                    continue;
                }

                // A relay of any length may be the only one of its target.
                if (queue != begun && queue.Bytes + relay.Bytes > maxBytes / TargetsAtLeast)
                {
                    return false;
                }

                queue.Relays.Enqueue(relay);
                queue.Bytes += relay.Bytes;
            }

            if (queue == begun)
            {
                _ = SendAsync(id, queue, relay);
            }

            return true;
        }
    }

    private async Task SendAsync(byte[] id, TargetQueue queue, WaitingRelay first)
    {
        WaitingRelay? next = first;
        while (next is { } relay)
        {
            SendStatus status = TrySend(id, relay);
            if (status == SendStatus.Full
                && (relay.Correlation == 0 || transport.Now - relay.Since < transport.Ticks(transport.RelayTimeout)))
            {
                using var wait = new CancellationTokenSource();
                Task writable = local.WhenWritableAsync(id, wait.Token);
                if (relay.Correlation != 0)
                {
                    TimeSpan left = transport.RelayTimeout - time.GetElapsedTime(relay.Since, transport.Now);
                    writable = writable.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, time);
                }

                await writable.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                await wait.CancelAsync().ConfigureAwait(false);
                continue;
            }

            transport.Settle(relay.Correlation, relay.Origin, id, status);
            Interlocked.Add(ref _bytes, -relay.Bytes);
            lock (queue)
            {
                queue.Relays.Dequeue();
                queue.Bytes -= relay.Bytes;
                next = queue.Relays.TryPeek(out WaitingRelay following) ? following : null;
                if (next is null)
                {
                    _targets.TryRemove(KeyValuePair.Create(id, queue));
                }
            }
        }
    }

    // Without the lease, the id may already belong to another node.
    private SendStatus TrySend(byte[] id, in WaitingRelay relay) =>
        members.IsValid ? local.TrySend(id, relay.Type, new RawBody(relay.Body)) : SendStatus.Unavailable;

    /// <summary>The waiting relays of one target; its lock guards them.</summary>
    private sealed class TargetQueue
    {
        public Queue<WaitingRelay> Relays { get; } = new();

        public long Bytes { get; set; }
    }
}
