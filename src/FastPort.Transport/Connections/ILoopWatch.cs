namespace FastPort.Connections;

/// <summary>A protocol that detects a blocked loop, which the loop itself cannot do.</summary>
internal interface ILoopWatch
{
    /// <summary>The coarse clock ticked. Called on the clock's thread, also while the loop runs. Must not block.</summary>
    /// <param name="nowMilliseconds">The clock's reading.</param>
    /// <returns>The reading, in milliseconds, of the next call, unless a request makes it earlier.</returns>
    long Watch(long nowMilliseconds);
}
