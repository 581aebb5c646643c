using FastPort.OpcUa.SecureChannel;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The notification messages of a subscription that its client has not acknowledged, encoded (OPC 10000-4, 5.14.1.2). The oldest one goes
/// when there are too many. Under the session's gate.
/// </summary>
internal sealed class SentMessages(int maxMessages, long maxBytes)
{
    private readonly List<(uint Number, MessageBuffer Message)> _messages = [];
    private long _bytes;

    public int Count => _messages.Count;

    /// <summary>The sequence numbers, oldest first.</summary>
    public uint[] Numbers => [.. _messages.Select(static m => m.Number)];

    /// <summary>Keeps a message.</summary>
    public void Add(uint number, MessageBuffer message)
    {
        _messages.Add((number, message));
        _bytes += message.Length;
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

    /// <summary>The client has received a message. False if it is not there.</summary>
    public bool Acknowledge(uint number)
    {
        int index = _messages.FindIndex(m => m.Number == number);
        if (index >= 0)
        {
            RemoveAt(index);
        }

        return index >= 0;
    }

    public void Clear()
    {
        foreach ((_, MessageBuffer message) in _messages)
        {
            message.Dispose();
        }

        _messages.Clear();
        _bytes = 0;
    }

    private void RemoveAt(int index)
    {
        MessageBuffer message = _messages[index].Message;
        _bytes -= message.Length;
        message.Dispose();
        _messages.RemoveAt(index);
    }
}
