using FastPort;

namespace FastPortPeer.Soak;

/// <summary>One kind of load: rounds that end with everything accounted for, until it is told to stop.</summary>
internal abstract class SoakLoad(string name, string serverEndpoint)
{
    protected SoakAccount Account { get; } = new($"{name}, {Endpoint.Parse(serverEndpoint).Scheme}");

    /// <summary>The server under test.</summary>
    protected string ServerEndpoint { get; } = serverEndpoint;

    /// <summary>Runs until cancelled, to the end of the present round.</summary>
    public async Task RunAsync(CancellationToken stop)
    {
        try
        {
            await RunRoundsAsync(stop);
        }
        catch (Exception e)
        {
            // Whatever it was, the load is over before its time, and the account says so.
            Account.Deviation($"{e.GetType().Name}: {e.Message}");
        }
    }

    public void Print() => Account.Print();

    protected abstract Task RunRoundsAsync(CancellationToken stop);

    /// <summary>A connected client that does not come back by itself: a lost connection is a deviation.</summary>
    protected async Task<FastPortClient> ConnectAsync(MessageHandlers? handlers = null, string routingId = "")
    {
        var options = new FastPortClientOptions
        {
            Endpoint = ServerEndpoint,
            RoutingId = routingId,
            Reconnect = false,
        };
        var client = new FastPortClient(options, handlers);
        await client.ConnectAsync();
        return client;
    }
}
