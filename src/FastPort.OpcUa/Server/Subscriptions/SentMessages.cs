using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The notification messages of a subscription that its client has not acknowledged, encoded (OPC 10000-4, 5.14.1.2). The oldest is dropped
/// when there are too many. Their memory is charged to the subscription's session. Under that session's gate.
/// </summary>
internal sealed class SentMessages(int maxMessages, long maxBytes, SessionSubscriptions payer)
{
    private readonly List<(uint Number, DateTime SentAt, MessageBuffer Message)> _messages = [];
    private SessionSubscriptions _payer = payer;
    private long _bytes;

    public int Count => _messages.Count;

    /// <summary>The sequence numbers, oldest first.</summary>
    public uint[] Numbers => [.. _messages.Select(static m => m.Number)];

    /// <summary>When the oldest message was sent; there must be one.</summary>
    public DateTime OldestSentAt => _messages[0].SentAt;

    /// <summary>Keeps a message.</summary>
    public void Add(uint number, DateTime sentAt, MessageBuffer message)
    {
        _messages.Add((number, sentAt, message));
        Charge(message.Capacity);
        while (_messages.Count > 1 && (_messages.Count > maxMessages || _bytes > maxBytes))
        {
            RemoveAt(0);
        }
    }

    public MessageBuffer? Find(uint number)
    {
        int index = _messages.FindIndex(m => m.Number == number);
        return index < 0 ? null : _messages[index].Message;
    }

    /// <summary>The client has received a message. False if it does not exist.</summary>
    public bool Acknowledge(uint number)
    {
        int index = _messages.FindIndex(m => m.Number == number);
        if (index >= 0)
        {
            RemoveAt(index);
        }

        return index >= 0;
    }

    /// <summary>The session has no room for the oldest message; there must be one.</summary>
    public void RemoveOldest() => RemoveAt(0);

    /// <summary>Another session has the subscription now; under both gates.</summary>
    public void MoveTo(SessionSubscriptions payer)
    {
        _payer.ChargeSent(-_bytes);
        _payer = payer;
        _payer.ChargeSent(_bytes);
    }

    public void Clear()
    {
        foreach ((_, _, MessageBuffer message) in _messages)
        {
            message.Dispose();
        }

        _messages.Clear();
        Charge(-_bytes);
    }

    private void RemoveAt(int index)
    {
        MessageBuffer message = _messages[index].Message;
        Charge(-message.Capacity);
        message.Dispose();
        _messages.RemoveAt(index);
    }

    private void Charge(long bytes)
    {
        _bytes += bytes;
        _payer.ChargeSent(bytes);
    }
}
