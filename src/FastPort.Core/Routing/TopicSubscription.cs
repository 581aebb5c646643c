namespace FastPort.Routing;

/// <summary>Receives the messages of a client's subscription. Thread-safe.</summary>
internal interface ITopicReceiver
{
    /// <summary>Takes a message. On the session's loop; two loops may call while a session follows the previous one.</summary>
    void Receive(scoped in RoutedMessage message);

    /// <summary>The client has ended: no message comes any more. The first call counts. Must not call other code.</summary>
    /// <param name="why">Why the client gave up; null if the program closed it.</param>
    void End(string? why);
}

/// <summary>The handler of a subscription.</summary>
internal sealed class HandlerReceiver(RoutedHandler handler) : ITopicReceiver
{
    public void Receive(scoped in RoutedMessage message) => handler(in message);

    public void End(string? why)
    {
    }
}

/// <summary>
/// A prefix and the receivers of its messages in a client, for which the server has one subscription. The owner's gate guards the receivers
/// and the users; loops read the receivers without it.
/// </summary>
internal sealed class TopicSubscription(string prefix)
{
    private volatile ITopicReceiver[] _receivers = [];

    public string Prefix { get; } = prefix;

    /// <summary>The receivers, in the order in which they came. Never changed in place.</summary>
    public ITopicReceiver[] Receivers
    {
        get => _receivers;
        set => _receivers = value;
    }

    /// <summary>The number of receivers, and of former receivers whose subscription is still being ended.</summary>
    public int Users { get; set; }

    /// <summary>
    /// Held during each request about the prefix. Without it, an Unsubscribe could end a subscription that was made after it.
    /// </summary>
    public SemaphoreSlim Turn { get; } = new(1);

    /// <summary>
    /// Whether the server may have the subscription: it was requested, and no Unsubscribe has succeeded since. Changed with the turn.
    /// </summary>
    public bool MayStand { get; set; }
}
