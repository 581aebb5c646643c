namespace FastPort.Telemetry.Metering;

/// <summary>The memory of a server's connections at one moment.</summary>
/// <param name="SendQueueBytes">Bytes that wait in send queues for their peers.</param>
/// <param name="UsedBytes">Bytes taken from the memory budget, by all servers that share it.</param>
/// <param name="LimitBytes">The budget.</param>
internal readonly record struct ServerMemory(long SendQueueBytes, long UsedBytes, long LimitBytes);
