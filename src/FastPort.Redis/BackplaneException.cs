namespace FastPort.Redis;

/// <summary>
/// A node cannot join the others: Redis cannot be used, or another node has its name. The message states the cause and the remedy. The
/// host's start throws it.
/// </summary>
public sealed class BackplaneException : InvalidOperationException
{
    internal BackplaneException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }
}
