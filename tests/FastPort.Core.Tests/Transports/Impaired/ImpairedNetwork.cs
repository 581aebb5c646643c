using FastPort.Core.Tests.Support;
using FastPort.Transports;

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
    public static async Task<ImpairedNetwork> OpenAsync(TransportKind transport, int clients, int heartbeatMilliseconds)
    {
        var network = new ImpairedNetwork();
        try
        {
            await network.StartAsync(transport.ToString(), $"{clients}", $"{heartbeatMilliseconds}");
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
        await Clients.AskAsync("connect");
    }
}
