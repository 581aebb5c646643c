namespace FastPort.Connections;

/// <summary>A protocol that wants to notice what its loop cannot tell: that it is held up.</summary>
internal interface ILoopWatch
{
    /// <summary>The coarse clock ticked. On the clock's thread, also while the loop is at work. Must not block.</summary>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <returns>When to come again unless something asks for it earlier.</returns>
    long Watch(long nowMilliseconds);
}
