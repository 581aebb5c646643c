namespace FastPort.Core.Tests.Sessions.Lifecycle.Ends;

/// <summary>A request of this side that notes its outcome.</summary>
/// <param name="seen">Receives the outcome.</param>
/// <param name="ended">Called after it, within the callback.</param>
internal sealed class Asked(List<string> seen, Action ended) : PendingReply
{
    /// <summary>Number of outcomes that it received.</summary>
    public int Outcomes { get; private set; }

    protected internal override void OnReply(scoped in InboundReply reply) => End($"own replied{(reply.IsError ? " error" : "")}");

    protected internal override void OnFailed(RequestFailure failure, string message) => End($"own {failure}");

    private void End(string outcome)
    {
        Outcomes++;
        seen.Add(outcome);
        ended();
    }
}
