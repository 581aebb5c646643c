namespace FastPort.OpcUa.Client;

/// <summary>A subscription that the server does not have, and that is to be recreated. Immutable.</summary>
/// <param name="Id">The id that the server had for it, for the log.</param>
/// <param name="Why">The reason for its end.</param>
/// <param name="Refusal">Why the server last refused to recreate it; Good if it has not.</param>
/// <param name="Due">Ends when the server is asked again.</param>
/// <param name="DueAt">When that is, as a timestamp of the client's time.</param>
internal sealed record SubscriptionLoss(uint Id, StatusCode Why, StatusCode Refusal, Task Due, long DueAt);
