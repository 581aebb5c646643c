namespace FastPort.OpcUa.Server;

/// <summary>The negotiated parameters of a subscription (OPC 10000-4, 5.14.2).</summary>
/// <param name="Interval">Time between two cycles.</param>
/// <param name="LifetimeCount">Cycles without a Publish request after which the subscription ends.</param>
/// <param name="KeepAliveCount">Cycles without a message after which a keep-alive message is sent.</param>
/// <param name="MaxNotifications">Maximum number of notifications of a message.</param>
/// <param name="Priority">Subscriptions with a higher one get the Publish requests first.</param>
internal readonly record struct SubscriptionTerms(
    TimeSpan Interval, uint LifetimeCount, uint KeepAliveCount, int MaxNotifications, byte Priority)
{
    private const uint DefaultKeepAliveCount = 10;
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    /// <summary>Revises a client's request. The lifetime is at least three times the keep-alive time.</summary>
    public static SubscriptionTerms Revise(
        OpcUaServerOptions options, double interval, uint lifetimeCount, uint keepAliveCount, uint maxNotifications, byte priority)
    {
        double longest = options.MaxSubscriptionLifetime.TotalMilliseconds;
        double shortest = ShortestInterval(options).TotalMilliseconds;

        // NaN or a negative request gets the shortest interval.
        double milliseconds = interval > shortest ? Math.Min(interval, Math.Max(longest / 3, shortest)) : shortest;
        uint mostKeepAlive = (uint)Math.Clamp(longest / 3 / milliseconds, 1, uint.MaxValue / 3);
        uint keepAlive = Math.Clamp(keepAliveCount == 0 ? DefaultKeepAliveCount : keepAliveCount, 1, mostKeepAlive);
        uint mostLifetime = (uint)Math.Clamp(longest / milliseconds, 3 * keepAlive, uint.MaxValue);
        return new SubscriptionTerms(
            TimeSpan.FromMilliseconds(milliseconds),
            Math.Clamp(lifetimeCount, 3 * keepAlive, mostLifetime),
            keepAlive,
            (int)Math.Min(maxNotifications == 0 ? uint.MaxValue : maxNotifications, (uint)options.MaxNotificationsPerPublish),
            priority);
    }

    /// <summary>The shortest time between two calls of a timer; at least 1 ms.</summary>
    public static TimeSpan ShortestInterval(OpcUaServerOptions options) =>
        options.MinPublishingInterval > Millisecond ? options.MinPublishingInterval : Millisecond;
}
