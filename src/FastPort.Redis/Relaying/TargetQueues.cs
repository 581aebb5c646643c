using System.Collections.Concurrent;
using FastPort.Framing;
using FastPort.Redis.Members;
using FastPort.Redis.Wire;
using FastPort.Routing;
using FastPort.Sessions;

namespace FastPort.Redis.Relaying;

/// <summary>
/// Relays of other nodes that wait for room in the send queues of sessions of this one, in order for each. The batches' thread adds, a
/// task for each waiting target sends.
/// </summary>
internal sealed class TargetQueues(RelayTransport transport, IMessageRouter local, Membership members, TimeProvider time, int maxBytes)
{
    private readonly ConcurrentDictionary<byte[], Queue<WaitingRelay>> _targets = new(Utf8Comparer.Instance);
    private long _bytes;

    /// <summary>Whether relays wait for a target, which later ones must not overtake.</summary>
    public bool Waits(ReadOnlySpan<byte> id) =>
        !_targets.IsEmpty && _targets.GetAlternateLookup<ReadOnlySpan<byte>>().ContainsKey(id);

    /// <summary>Lets a relay wait.</summary>
    public void Add(in RelayEntry entry)
    {
        int bytes = WaitingRelay.BytesFor(entry.Body.Length);
        if (Interlocked.Add(ref _bytes, bytes) > maxBytes)
        {
            Interlocked.Add(ref _bytes, -bytes);
            transport.Settle(entry.Correlation, entry.Origin, entry.Id, SendStatus.Dropped);
            return;
        }

        byte[] id = entry.Id.ToArray();
        WaitingRelay relay = WaitingRelay.Copy(entry, moreHops: 0, transport.Now);
        while (true)
        {
            var begun = new Queue<WaitingRelay>();
            Queue<WaitingRelay> queue = _targets.GetOrAdd(id, begun);
            lock (queue)
            {
                // A queue that has run empty is taken out of the table under its lock.
                if (queue != begun && queue.Count == 0)
                {
                    continue;
                }

                queue.Enqueue(relay);
            }

            if (queue == begun)
            {
                _ = SendAsync(id, queue);
            }

            return;
        }
    }

    private async Task SendAsync(byte[] id, Queue<WaitingRelay> queue)
    {
        WaitingRelay? next = queue.Peek();
        while (next is { } relay)
        {
            // Without the lease the id may belong to another node by now.
            SendStatus status = members.IsValid ? local.TrySend(id, relay.Type, new RawBody(relay.Body)) : SendStatus.Unavailable;
            if (status == SendStatus.Full
                && (relay.Correlation == 0 || transport.Now - relay.Since < transport.Ticks(transport.RelayTimeout)))
            {
                Task writable = local.WhenWritableAsync(id);
                if (relay.Correlation != 0)
                {
                    TimeSpan left = transport.RelayTimeout - time.GetElapsedTime(relay.Since, transport.Now);
                    writable = writable.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, time);
                }

                await writable.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                continue;
            }

            transport.Settle(relay.Correlation, relay.Origin, id, status);
            Interlocked.Add(ref _bytes, -relay.Bytes);
            lock (queue)
            {
                queue.Dequeue();
                next = queue.TryPeek(out WaitingRelay following) ? following : null;
                if (next is null)
                {
                    _targets.TryRemove(KeyValuePair.Create(id, queue));
                }
            }
        }
    }
}
