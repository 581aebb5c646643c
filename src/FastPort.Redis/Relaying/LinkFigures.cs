namespace FastPort.Redis.Relaying;

/// <summary>What a link has sent so far, and how far its node is behind.</summary>
/// <param name="Relays">Relays sent.</param>
/// <param name="Batches">Batches sent.</param>
/// <param name="BatchBytes">Their bytes.</param>
/// <param name="QueuedBytes">Bytes that wait to be sent or seen.</param>
/// <param name="Lag">
/// Ticks from sending a batch until the node said that it has seen it; of the last one, or of one that has waited for longer. Null before
/// the first.
/// </param>
internal readonly record struct LinkFigures(long Relays, long Batches, long BatchBytes, int QueuedBytes, long? Lag);
