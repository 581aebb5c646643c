namespace FastPort.Telemetry;

/// <summary>One measured message.</summary>
/// <param name="Timestamp">When it was measured, a timestamp of the <see cref="TimeProvider"/> of the <see cref="LatencyStats"/>.</param>
/// <param name="MessageType">Its message type.</param>
/// <param name="Whole">Client: round trip. Server: decode-to-send. Nanoseconds.</param>
/// <param name="FirstPart">Client: server time. Server: queue time. Nanoseconds, or <see cref="NotMeasured"/>.</param>
/// <param name="SecondPart">Client: network time. Server: handler time. Nanoseconds, or <see cref="NotMeasured"/>.</param>
internal readonly record struct LatencySample(long Timestamp, ushort MessageType, long Whole, long FirstPart, long SecondPart)
{
    /// <summary>The value of a part that was not measured.</summary>
    public const long NotMeasured = long.MinValue;

    /// <summary>Whether the two parts were measured: a reply without a timing block has only its round trip.</summary>
    public bool HasParts => FirstPart != NotMeasured;
}
