namespace FastPort.Limits;

/// <summary>A session's usage in one burst.</summary>
/// <param name="Messages">Frames of all kinds.</param>
/// <param name="Bytes">Received bytes.</param>
/// <param name="LoopNanoseconds">Time of the loop.</param>
internal readonly record struct RateUse(long Messages, long Bytes, long LoopNanoseconds);
