namespace FastPort.Sessions.Streams;

/// <summary>
/// The receiver's account of the credit that it has granted. The sender counts the same (<see cref="ItemWriter"/>): an item may be sent
/// while at least one message and one byte are left, so the bytes may fall below zero once. Not thread-safe: the owner locks it.
/// </summary>
internal struct StreamAccount
{
    private long _messages;
    private long _bytes;

    /// <summary>Takes one item with a body of this size; false without credit.</summary>
    public bool TryTake(int size)
    {
        if (_messages <= 0 || _bytes <= 0)
        {
            return false;
        }

        _messages--;
        _bytes -= size;
        return true;
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
