namespace FastPort.Benchmarks.Channels;

/// <summary>What is handed over: an object made beforehand, so that allocations measured belong to the queue.</summary>
internal sealed record Message(int Number);
