namespace FastPort.Sessions.Streams;

/// <summary>
/// The credit of one direction of a stream. Sender and receiver each keep one, and both count the same: an item may be sent while at least
/// one message and one byte are left, so the bytes may fall below zero once. Not thread-safe: the owner locks it.
/// </summary>
internal struct StreamAccount
{
    private long _messages;
    private long _bytes;

    /// <summary>Whether one more item may be sent.</summary>
    public readonly bool HasCredit => _messages > 0 && _bytes > 0;

    /// <summary>Takes one item with a body of this size; false without credit.</summary>
    public bool TryTake(int size)
    {
        if (!HasCredit)
        {
            return false;
        }

        _messages--;
        _bytes -= size;
        return true;
    }

    /// <summary>Takes back an item that was not sent.</summary>
    public void Undo(int size)
    {
        _messages++;
        _bytes += size;
    }

    /// <summary>Adds a grant; false if a sum would exceed 2^31 - 1, which ends the stream.</summary>
    public bool TryGrant(uint messages, uint bytes)
    {
        if (_messages + messages > int.MaxValue || _bytes + bytes > int.MaxValue)
        {
            return false;
        }

        _messages += messages;
        _bytes += bytes;
        return true;
    }
}
