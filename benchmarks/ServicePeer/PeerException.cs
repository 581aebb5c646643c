namespace ServicePeer;

/// <summary>A run cannot go on; the message is shown without a stack trace.</summary>
internal sealed class PeerException(string message, Exception? inner = null) : Exception(message, inner);
