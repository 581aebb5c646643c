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
            lock (_gate)
            {
                _sending.Clear();
                if (_gathering.IsEmpty)
                {
                    _isSending = false;
                    return;
                }

                (_gathering, _sending) = (_sending, _gathering);
                batch = new SentBatch(_number++, _sending.Length, _content, _transport.Now);
                _content = default;
                _relays += batch.Content.Relays;
                _batchBytes += batch.Bytes;
                if (batch.Content.NeedsSeen)
                {
                    _unseen.Add(batch);
                }
            }

            _sending.Seal(_transport.Self, batch.Number);
            _transport.Counters.BatchSent(batch.Content, batch.Bytes);
            long receivers;
            try
            {
                receivers = await _transport.PublishAsync(_channel, _sending.Memory).ConfigureAwait(false);
            }
            catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException)
            {
                // Redis may have received it or not.
                Forget(batch.Number);
                _transport.Lost(this, batch.Number, batch.Number, batch.Content);
                SendAgainLater();
                return;
            }

            if (receivers == 0)
            {
                Forget(batch.Number);
                _transport.Undelivered(this, _sending.Memory.Span);
            }
        }
    }

    // What says what became of relays may arrive twice: senders wait for it. Relays and publications may not, and of topics all is told
    // again. Tried again by the transport's timer or the next entry.
    private void SendAgainLater()
    {
        lock (_gate)
        {
            BatchReader reader = BatchReader.OpenOwn(_sending.Memory.Span);
            while (reader.Read())
            {
                if (!reader.Kind.NeedsSeen())
                {
                    reader.Payload.CopyTo(_gathering.Add(reader.Kind, reader.Payload.Length));
                }
            }

            // The client of Redis may still hold the bytes of the batch.
            _sending = new BatchBuffer();
            _isSending = false;
        }
    }

    // A batch that nobody will see.
    private void Forget(ulong number)
    {
        lock (_gate)
        {
            _unseen.Remove(number);
            TellRoom();
        }
    }
}
