using FastPort.Connections;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

public sealed class StopDuringStartTests
{
    [Fact]
    public async Task A_stop_that_comes_while_the_server_starts_leaves_nothing_listening()
    {
        FastPortServer? server = null;
        Task? stop = null;
        var transport = new ListedTransport(() => stop ??= server!.StopAsync());
        var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:1", "tcp://127.0.0.1:2", "tcp://127.0.0.1:3" } };
        server = new FastPortServer(options, new MessageHandlers(), new FastPortServerComponents { Transports = { transport } });

        await Assert.ThrowsAsync<InvalidOperationException>(() => server.StartAsync());

        await stop!;
        Assert.NotEmpty(transport.Listeners);
        Assert.All(transport.Listeners, static l => Assert.True(l.IsStopped));
        await Assert.ThrowsAsync<InvalidOperationException>(() => server.StartAsync());
    }

    private sealed class ListedTransport(Action started) : ITransport
    {
        public List<ListedListener> Listeners { get; } = [];

        public bool Supports(string scheme) => true;

        public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings)
        {
            var listener = new ListedListener(endpoint, started);
            Listeners.Add(listener);
            return listener;
        }

        public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) => throw new NotSupportedException();
    }

    private sealed class ListedListener(Endpoint endpoint, Action started) : ITransportListener
    {
        public bool IsStopped { get; private set; }

        public Endpoint Endpoint => endpoint;

        public void Start(Action<Connection> accepted) => started();

        public ValueTask StopAsync()
        {
            IsStopped = true;
            return ValueTask.CompletedTask;
        }
    }
}
