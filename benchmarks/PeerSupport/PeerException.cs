namespace PeerSupport;

/// <summary>The run cannot go on or its messages were not right; the message is written for whoever started it.</summary>
public sealed class PeerException : Exception
{
    public PeerException()
    {
    }

    public PeerException(string message)
        : base(message)
    {
    }

    public PeerException(string message, Exception innerException)
        : base(message, innerException)
    {
    }
}
