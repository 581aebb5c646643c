namespace FastPort.OpcUa.Client;

/// <summary>A subscription that the server does not have, and that is to be made again. Immutable.</summary>
/// <param name="Id">The id that the server had for it, for the log.</param>
/// <param name="Why">What became of it.</param>
/// <param name="Refusal">Why the server has refused to make it again, the last time; Good if it has not.</param>
/// <param name="Due">Ends when the server is asked again.</param>
/// <param name="DueAt">When that is, as a timestamp of the client's time.</param>
internal sealed record SubscriptionLoss(uint Id, StatusCode Why, StatusCode Refusal, Task Due, long DueAt);
