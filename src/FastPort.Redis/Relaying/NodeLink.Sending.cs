using FastPort.Redis.Wire;
using StackExchange.Redis;

namespace FastPort.Redis.Relaying;

/// <content>Sends batch after batch, one at a time.</content>
internal sealed partial class NodeLink : IThreadPoolWorkItem
{
    /// <summary>Sends what is left after a failure.</summary>
    public void TryAgain()
    {
        lock (_gate)
        {
            if (!_gathering.IsEmpty)
            {
                Begin();
            }
        }
    }

    // Fire and forget: SendAsync handles every failure.
    void IThreadPoolWorkItem.Execute() => _ = SendAsync();

    private void Begin()
    {
        if (!_isSending)
        {
            _isSending = true;
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    private async Task SendAsync()
    {
        while (true)
        {
            SentBatch batch;
            bool isClosed;
            lock (_gate)
            {
                _sending.Clear();
                if (_gathering.IsEmpty)
                {
                    _sending.Trim();
                    _gathering.Trim();
                    _isSending = false;
                    return;
                }

                isClosed = _isClosed;
                (_gathering, _sending) = (_sending, _gathering);
                batch = new SentBatch(_number++, _sending.Length, _content with { Forwarded = _forwarded }, _transport.Now);
                _content = default;
                _forwarded = null;
                _relays += batch.Content.Relays;
                _batchBytes += batch.Bytes;
                if (batch.Content.NeedsSeen)
                {
                    _unseen.Add(batch);
                }
            }

            if (isClosed)
            {
                _transport.Undelivered(this, _sending.Memory.Span);
                continue;
            }

            _sending.Seal(_transport.Self, batch.Number);
            _transport.Counters.BatchSent(batch.Content, batch.Bytes);
            long receivers;
            try
            {
                receivers = await PublishAsync(batch).ConfigureAwait(false);
            }
            catch (Exception e)
            {
                if (e is not (RedisException or TimeoutException or ObjectDisposedException or OperationCanceledException))
                {
                    _transport.SendingFailed(this, e);
                }

                // Redis may have received it or not.
                _transport.Lost(this, batch.Number, batch.Number, Forget(batch.Number) ? batch.Content : default);
                SendAgainLater();
                return;
            }

            if (receivers == 0 && (Forget(batch.Number) || !batch.Content.NeedsSeen))
            {
                Return(batch);
            }
        }
    }

    // No node has received the batch; its relays look for their targets again. Relays collected in the meantime do so too, after them;
    // until that is done and the locations are forgotten, the link is full for others, so that none overtakes them.
    private void Return(in SentBatch batch)
    {
        BatchBuffer? gathered = batch.Content.Relays != 0 ? TakeRelays() : null;
        _transport.Undelivered(this, _sending.Memory.Span);
        if (gathered is null)
        {
            return;
        }

        _transport.LookUpRelays(gathered.Memory.Span);
        _transport.ForgetTargets(_sending.Memory.Span);
        _transport.ForgetTargets(gathered.Memory.Span);
        gathered.Return();
        lock (_gate)
        {
            _isReturning = false;
            TellRoom();
        }
    }

    // Entries other than relays stay.
    private BatchBuffer TakeRelays()
    {
        lock (_gate)
        {
            _isReturning = true;
            BatchBuffer relays = new();
            BatchBuffer rest = new();
            BatchReader reader = BatchReader.OpenOwn(_gathering.Memory.Span);
            while (reader.Read())
            {
                reader.Payload.CopyTo((reader.Kind == EntryKind.Relay ? relays : rest).Add(reader.Kind, reader.Payload.Length));
            }

            _gathering.Return();
            _gathering = rest;
            _content = _content with { Relays = 0, OneWays = 0 };
            _forwarded = null;
            return relays;
        }
    }

    // While a member's connection or the slot of its channel is replaced, it is not subscribed for a moment: a batch without a receiver is
    // published again, so that later batches do not overtake it. In a cluster it may still have arrived, from a replica through its master:
    // the receiver handles it once.
    private async Task<long> PublishAsync(SentBatch batch)
    {
        for (int attempt = 0; ; attempt++)
        {
            long receivers = await _transport.PublishAsync(_channel, _sending.Memory).ConfigureAwait(false);
            if (receivers != 0 || !await _transport.ResubscribesAsync(Instance, attempt).ConfigureAwait(false) || IsSeen(batch))
            {
                return receivers;
            }
        }
    }

    private bool IsSeen(in SentBatch batch)
    {
        lock (_gate)
        {
            return batch.Content.NeedsSeen && !_unseen.Contains(batch.Number);
        }
    }

    // Confirmations may arrive twice, and senders wait for them. Relays and publications may not, all topics are sent again, a question
    // about peers times out soon, and a leaving node does not wait for others once its connection has failed. The transport's timer or the
    // next entry sends again.
    private void SendAgainLater()
    {
        lock (_gate)
        {
            BatchReader reader = BatchReader.OpenOwn(_sending.Memory.Span);
            while (reader.Read())
            {
                if (!reader.Kind.NeedsSeen() && reader.Kind is not (EntryKind.PeerQuestion or EntryKind.PeerAnswer))
                {
                    reader.Payload.CopyTo(_gathering.Add(reader.Kind, reader.Payload.Length));
                }
            }

            // The Redis client may still hold the bytes of the batch.
            _sending = new BatchBuffer();
            _isSending = false;
            if (_isClosed && !_gathering.IsEmpty)
            {
                // A link that has left the table is not retried: its waiting relays look for their targets now.
                Begin();
            }
        }
    }

    // A batch that no node will receive. False if it was already given up.
    private bool Forget(ulong number)
    {
        lock (_gate)
        {
            bool wasThere = _unseen.Remove(number) is not null;
            TellRoom();
            return wasThere;
        }
    }
}
