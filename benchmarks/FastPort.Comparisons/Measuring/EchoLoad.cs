using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// Many connections with many requests in flight (benchmarks/Native/echo_load.c), over WebSocket if the server's endpoint says so.
/// </summary>
/// <param name="bench">Cores and processes.</param>
/// <param name="native">The compiled programs.</param>
/// <param name="connections">Connections.</param>
/// <param name="inFlight">Requests in flight on each.</param>
/// <param name="payloadBytes">Payload of a message.</param>
internal sealed class EchoLoad(Workbench bench, NativePrograms native, int connections, int inFlight, int payloadBytes) : ILoadProgram
{
    public IReadOnlyList<int> Cores { get; init; } = bench.Pinning.Client;

    /// <summary>File with the certificate that servers show, for a load over TLS; null for one without. Defaults to null.</summary>
    public string? AuthorityFile { get; init; }

    /// <summary>
    /// Whether each request is a WebSocket message of its own. Defaults to false: those that are sent together are one message.
    /// </summary>
    public bool SingleMessages { get; init; }

    private string Program => AuthorityFile is null ? native.EchoLoad : native.EchoLoadTls;

    public string? Missing() => native.Missing(Program);

    public IReadOnlyList<string> Command(ServerProcess server, double leadIn, double seconds)
    {
        var endpoint = new Uri(server.Endpoint);
        return
        [
            Program,
            "--host", endpoint.Host,
            "--port", Invariant.Text(endpoint.Port),
            "--connections", Invariant.Text(connections),
            "--in-flight", Invariant.Text(inFlight),
            "--size", Invariant.Text(payloadBytes),
            "--type", Invariant.Text(server.Candidate.MessageType),
            "--reply", server.Candidate.RepliesAsSent ? "as-sent" : "set",
            "--warmup", Invariant.Text(leadIn),
            "--duration", Invariant.Text(seconds),
            "--server-pid", Invariant.Text(server.Id),
            .. endpoint.Scheme is "ws" or "wss" ? (string[])["--path", endpoint.AbsolutePath] : [],
            .. SingleMessages ? (string[])["--messages", "single"] : [],
            .. AuthorityFile is null ? (string[])[] : ["--authority", AuthorityFile],
            .. bench.Pinning.IsPinned ? (string[])["--watch-cores", string.Join(',', bench.Pinning.Both)] : [],
        ];
    }
}
