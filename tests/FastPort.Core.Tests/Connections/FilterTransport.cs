using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Core.Tests.Connections;

/// <summary>A transport whose connections have a filter on top.</summary>
/// <param name="inner">What carries the bytes.</param>
/// <param name="filter">Makes the filter of a connection, given whether it was accepted.</param>
internal sealed class FilterTransport(ITransport inner, Func<Connection, bool, Connection> filter) : ITransport
{
    public bool Supports(string scheme) => inner.Supports(scheme);

    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) =>
        new Listener(inner.CreateListener(endpoint, settings), filter);

    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) =>
        new Connector(inner.CreateConnector(endpoint, settings), filter);

    private sealed class Listener(ITransportListener inner, Func<Connection, bool, Connection> filter) : ITransportListener
    {
        public Endpoint Endpoint => inner.Endpoint;

        public void Start(Action<Connection> accepted) => inner.Start(connection => accepted(filter(connection, true)));

        public ValueTask StopAsync() => inner.StopAsync();
    }

    private sealed class Connector(ITransportConnector inner, Func<Connection, bool, Connection> filter) : ITransportConnector
    {
        public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken) =>
            filter(await inner.ConnectAsync(cancellationToken), false);
    }
}
