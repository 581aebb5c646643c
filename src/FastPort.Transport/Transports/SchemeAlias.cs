using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>A scheme that is served through another one. Immutable.</summary>
/// <param name="Over">The scheme of the transport that carries the bytes.</param>
/// <param name="DefaultPort">Port of endpoints that name none; null for none.</param>
internal sealed record SchemeAlias(string Over, int? DefaultPort)
{
    /// <summary>The endpoint for the transport below: without path and query, which belong to the protocol.</summary>
    public Endpoint Resolve(Endpoint endpoint)
    {
        if (Endpoint.IsName(Over))
        {
            return new Endpoint(Over, endpoint.Host + endpoint.Path, 0);
        }

        int port = endpoint.Port >= 0
            ? endpoint.Port
            : DefaultPort ?? throw new EndpointException(
                endpoint, $"{endpoint} names no port, and '{endpoint.Scheme}' has no default; add one after the host.");
        return new Endpoint(Over, endpoint.Host, port);
    }

    /// <summary>The same failure, with the endpoint that the user wrote.</summary>
    public static EndpointException ToldOf(Endpoint endpoint, EndpointException failure)
    {
        string below = $"{failure.Endpoint}";
        return new EndpointException(
            endpoint,
            failure.Message.Contains(below, StringComparison.Ordinal)
                ? failure.Message.Replace(below, $"{endpoint}", StringComparison.Ordinal)
                : $"{endpoint}: {failure.Message}",
            failure);
    }
}

/// <summary>Listens at an alias's endpoint through the transport below.</summary>
internal sealed class AliasListener(Endpoint endpoint, ITransportListener below) : ITransportListener
{
    public Endpoint Endpoint => below.Endpoint.IsNamed ? endpoint : endpoint with { Port = below.Endpoint.Port };

    public void Start(Action<Connection> accepted)
    {
        try
        {
            below.Start(accepted);
        }
        catch (EndpointException e)
        {
            throw SchemeAlias.ToldOf(endpoint, e);
        }
    }

    public ValueTask StopAsync() => below.StopAsync();

    // A transport of a program may do more than stop.
    public ValueTask DisposeAsync() => below.DisposeAsync();
}

/// <summary>Connects to an alias's endpoint through the transport below.</summary>
internal sealed class AliasConnector(Endpoint endpoint, ITransportConnector below) : ITransportConnector
{
    public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await below.ConnectAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (EndpointException e)
        {
            throw SchemeAlias.ToldOf(endpoint, e);
        }
    }
}
