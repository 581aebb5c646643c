using FastPort.Redis.Relaying;
using FastPort.Redis.Wire;
using FastPort.Routing;

namespace FastPort.Redis.Topics;

/// <summary>
/// Sends this node's interests to one other node: all of them when asked and after a loss, then the changes. A changed prefix is sent in
/// its current state when its turn comes, so it waits once no matter how often it changes. Changes that do not fit the link's window wait
/// here. The gate of <see cref="OwnInterests"/> guards all fields.
/// </summary>
internal sealed class InterestFeed(OwnInterests own, RelayTransport transport, ulong instance) : IThreadPoolWorkItem
{
    // Number of entries added to the link at a time, while subscriptions wait for the gate.
    private const int BytesAtOnce = 16 * 1024;

    private readonly Queue<byte[]> _changes = new();
    private readonly HashSet<byte[]> _changed = new(Utf8Comparer.Instance);
    private byte[][]? _all;
    private int _told;
    private bool _mustTellAll;
    private bool _mustAsk;
    private bool _isSending;
    private bool _isLost;
    private bool _isEnded;

    /// <summary>A prefix has become wanted or unwanted. The caller holds the gate.</summary>
    public void Changed(byte[] prefix)
    {
        if (!_isLost && !_mustTellAll && _changed.Add(prefix))
        {
            _changes.Enqueue(prefix);
            Begin();
        }
    }

    /// <summary>Sends the node all interests, asks it for all of its interests, or both.</summary>
    public void Send(bool all, bool ask)
    {
        lock (own.Gate)
        {
            _mustTellAll |= all;
            _mustAsk |= ask;
            Begin();
        }
    }

    /// <summary>A part of this feed may be lost: <see cref="Retry"/> sends and asks for everything again.</summary>
    public void Lost()
    {
        lock (own.Gate)
        {
            _isLost = true;
        }
    }

    /// <summary>Begins again after a loss. Called occasionally, so that a disconnected Redis is not tried all the time.</summary>
    public void Retry()
    {
        lock (own.Gate)
        {
            if (_isLost)
            {
                _isLost = false;
                _mustTellAll = _mustAsk = true;
                Begin();
            }
        }
    }

    /// <summary>The node has left. The caller has the gate.</summary>
    public void End() => _isEnded = true;

    // Fire and forget: nothing in SendAsync fails.
    void IThreadPoolWorkItem.Execute() => _ = SendAsync();

    private void Begin()
    {
        if (!_isSending && !_isEnded && !_isLost)
        {
            _isSending = true;
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    private async Task SendAsync()
    {
        do
        {
            await transport.LinkTo(instance).WhenRoomAsync().ConfigureAwait(false);
        }
        while (SendSome());
    }

    // False if nothing is left to do.
    private bool SendSome()
    {
        lock (own.Gate)
        {
            NodeLink link = transport.LinkTo(instance);
            for (int room = BytesAtOnce; room > 0;)
            {
                if (_isEnded || _isLost || !TryTakeNext(out EntryKind kind, out byte[] prefix))
                {
                    _isSending = false;
                    return false;
                }

                // A link that has ended belongs to a node that has left, and may have joined again.
                _isLost = !link.TryTell(kind, prefix);
                room -= BatchBuffer.EntryHeadSize + prefix.Length;
            }

            return true;
        }
    }

    private bool TryTakeNext(out EntryKind kind, out byte[] prefix)
    {
        prefix = [];
        if (_mustAsk)
        {
            _mustAsk = false;
            kind = EntryKind.AskInterests;
            return true;
        }

        if (_mustTellAll)
        {
            // Waiting changes are part of it.
            _mustTellAll = false;
            _all = own.ToArray();
            _told = 0;
            _changes.Clear();
            _changed.Clear();
            kind = EntryKind.InterestsBegin;
            return true;
        }

        kind = EntryKind.Wanted;
        while (_all is not null && _told < _all.Length)
        {
            prefix = _all[_told++];
            if (own.Has(prefix))
            {
                return true;
            }
        }

        if (_all is not null)
        {
            _all = null;
            prefix = [];
            kind = EntryKind.InterestsEnd;
            return true;
        }

        if (_changes.TryDequeue(out byte[]? changed))
        {
            _changed.Remove(changed);
            prefix = changed;
            kind = own.Has(changed) ? EntryKind.Wanted : EntryKind.Unwanted;
            return true;
        }

        return false;
    }
}
