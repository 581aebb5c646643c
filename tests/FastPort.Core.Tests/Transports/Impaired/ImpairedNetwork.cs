namespace FastPort.Core.Tests.Transports.Impaired;

/// <summary>
/// A server and its clients as processes in two networks that have nothing but a link that loses, delays and reorders packets. What each
/// process does is in FastPort.TestHost/Impaired.
/// </summary>
internal sealed class ImpairedNetwork : IAsyncDisposable
{
    /// <summary>How long each packet takes one way, at least.</summary>
    public const int DelayMilliseconds = 50;

    private const string LossPercent = "2";
    private const string LatePercent = "25";
    private const string Seed = "20260";

    private ImpairedNetwork()
    {
    }

    public TestHostProcess Server { get; private set; } = null!;

    public TestHostProcess Clients { get; private set; } = null!;

    public TestHostProcess Link { get; private set; } = null!;

    /// <summary>Starts the processes; the clients are connected when it returns.</summary>
    /// <param name="transport">The transport of both sides.</param>
    /// <param name="clients">How many clients there are.</param>
    /// <param name="heartbeatMilliseconds">The interval of both sides; 0 for no heartbeats.</param>
    /// <param name="connectsUnderLoss">
    /// Whether packets are lost from the start. Where a SYN or its answer is lost, TCP takes the second that it waits to be the time of a
    /// round trip, and waits up to 3 s before it resends anything for as long as there are few other ones to learn from.
    /// </param>
    public static async Task<ImpairedNetwork> OpenAsync(
        TransportKind transport, int clients, int heartbeatMilliseconds, bool connectsUnderLoss = true)
    {
        var network = new ImpairedNetwork();
        try
        {
            await network.StartAsync(transport.ToString(), $"{clients}", $"{heartbeatMilliseconds}");
            await network.Link.AskAsync(connectsUnderLoss ? "lose" : "spare");
            await network.Clients.AskAsync("connect");
            await network.Link.AskAsync("lose");
            return network;
        }
        catch
        {
            await network.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        // The clients leave first, while they still reach the server.
        foreach (TestHostProcess process in new[] { Clients, Server, Link }.OfType<TestHostProcess>())
        {
            await process.DisposeAsync();
        }
    }

    private async Task StartAsync(string transport, string clients, string heartbeat)
    {
        Server = await TestHostProcess.StartAsync(NetworkNamespaces.Own, "impaired-server", transport, heartbeat);
        Clients = await TestHostProcess.StartAsync(
            NetworkNamespaces.Beside(Server.Id), "impaired-clients", transport, clients, heartbeat);
        Link = await TestHostProcess.StartAsync(
            NetworkNamespaces.RightsOf(Server.Id),
            "impaired-link", $"{Server.Id}", $"{Clients.Id}", LossPercent, $"{DelayMilliseconds}", LatePercent, Seed);
    }
}
