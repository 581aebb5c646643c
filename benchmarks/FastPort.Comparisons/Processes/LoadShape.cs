namespace FastPort.Comparisons.Processes;

/// <summary>The load of one workload.</summary>
/// <param name="Title">Name in the tables.</param>
/// <param name="Connections">TCP connections.</param>
/// <param name="InFlight">Requests in flight per connection.</param>
/// <param name="PayloadBytes">Payload of a message.</param>
internal sealed record LoadShape(string Title, int Connections, int InFlight, int PayloadBytes)
{
    /// <summary>Whether the load client runs on the server's core: a lock-step round trip across sleeping cores measures the scheduler.</summary>
    public bool OnServerCore { get; init; }
}
