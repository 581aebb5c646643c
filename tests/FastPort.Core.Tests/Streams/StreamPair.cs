using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using Xunit;

namespace FastPort.Core.Tests.Streams;

/// <summary>A server and a client with a session.</summary>
internal sealed class StreamPair : IAsyncDisposable
{
    private static int _count;

    private StreamPair(TestServer server, FastPortClient client)
    {
        Server = server;
        Client = client;
    }

    public TestServer Server { get; }

    public FastPortClient Client { get; }

    public static async Task<StreamPair> StartAsync(
        bool inProcess, Action<MessageHandlers> handlers, Action<FastPortServerOptions>? server = null,
        Action<FastPortClientOptions>? client = null, MessageHandlers? clientHandlers = null)
    {
        TestServer started = await TestServer.StartAsync(handlers, options =>
        {
            if (inProcess)
            {
                options.Endpoints.Clear();
                options.Endpoints.Add($"inproc://streams-{Interlocked.Increment(ref _count)}");
            }

            server?.Invoke(options);
        });
        var options = new FastPortClientOptions { Endpoint = started.Endpoint.ToString(), Reconnect = false };
        client?.Invoke(options);
        var connected = new FastPortClient(options, clientHandlers);
        await connected.ConnectAsync();
        await started.SessionAsync();
        return new StreamPair(started, connected);
    }

    /// <summary>Nothing of the streams is left on either side, and each was counted once.</summary>
    /// <param name="streams">The streams that the server has accepted.</param>
    /// <param name="refused">Those that it has refused, which the client counts too. Defaults to none.</param>
    public async Task ExpectNothingLeftAsync(int streams, int refused = 0)
    {
        var dispatcher = (RequestDispatcher)Server.Opened[0].Protocol.Dispatcher;
        await Patience.UntilAsync(
            () => Client.Session!.OutstandingRequests == 0
                && dispatcher.Streams is { Count: 0, Places: 0 }
                && Server.Counts.StreamsOpen == 0
                && Server.Counts.StreamsEnded >= streams
                && Client.Counters.Snapshot().StreamsOpen == 0,
            "nothing is left");
        Assert.Equal(streams, Server.Counts.StreamsEnded);
        Assert.Equal(streams + refused, Client.Counters.Snapshot().StreamsEnded);
        Assert.Equal([1], await Client.RequestAsync(TestServer.Echo, new byte[] { 1 }));
    }

    public async ValueTask DisposeAsync()
    {
        await Client.DisposeAsync();
        await Server.DisposeAsync();
    }
}
