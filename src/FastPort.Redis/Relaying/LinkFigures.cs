namespace FastPort.Redis.Relaying;

/// <summary>A link's sent totals, and how far its node is behind.</summary>
/// <param name="Relays">Relays sent.</param>
/// <param name="Batches">Batches sent.</param>
/// <param name="BatchBytes">Their bytes.</param>
/// <param name="QueuedBytes">Bytes that wait to be sent or confirmed.</param>
/// <param name="Lag">
/// Ticks from sending a batch until the node's confirmation; of the last batch, or of an earlier one that has waited longer. Null before
/// the first.
/// </param>
internal readonly record struct LinkFigures(long Relays, long Batches, long BatchBytes, int QueuedBytes, long? Lag);
