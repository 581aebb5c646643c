using FastPort.Configuration;
using FastPort.Transports;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort;

/// <summary>
/// The return value of
/// <see cref="FastPortClientRegistration.AddFastPortClient(IServiceCollection, Microsoft.Extensions.Configuration.IConfiguration,
/// Action{FastPortClientOptions}?)"/>: adds handlers and subscriptions. Used while the host is being built.
/// </summary>
public sealed class FastPortClientBuilder
{
    private readonly List<Action<IServiceProvider, MessageHandlers>> _maps = [];
    private readonly List<Action<IServiceProvider, FastPortClient>> _subscriptions = [];
    private Func<IServiceProvider, ITransport>? _transport;

    internal FastPortClientBuilder(IServiceCollection services, string name)
    {
        Services = services;
        Name = name;
    }

    /// <summary>The host's services.</summary>
    public IServiceCollection Services { get; }

    /// <summary>The client's name; empty for the client without a name.</summary>
    public string Name { get; }

    /// <summary>Registers handlers for messages that the server sends unsolicited.</summary>
    /// <param name="map">Gets the root service provider and the handler table, when the client is created.</param>
    public FastPortClientBuilder Map(Action<IServiceProvider, MessageHandlers> map)
    {
        ArgumentNullException.ThrowIfNull(map);
        _maps.Add(map);
        return this;
    }

    /// <summary>Registers handlers for messages that the server sends unsolicited.</summary>
    /// <param name="map">Gets the handler table, when the client is created.</param>
    public FastPortClientBuilder Map(Action<MessageHandlers> map)
    {
        ArgumentNullException.ThrowIfNull(map);
        return Map((_, handlers) => map(handlers));
    }

    /// <summary>Subscribes to <see cref="FastPortClient.Connected"/>, before the first session.</summary>
    /// <param name="connected">Gets the root service provider and the session. Must not block.</param>
    public FastPortClientBuilder OnConnected(Action<IServiceProvider, Session> connected)
    {
        ArgumentNullException.ThrowIfNull(connected);
        _subscriptions.Add((provider, client) => client.Connected += session => connected(provider, session));
        return this;
    }

    /// <summary>Subscribes to <see cref="FastPortClient.Disconnected"/>, before the first session.</summary>
    /// <param name="disconnected">Gets the root service provider, the session and the reason. Must not block.</param>
    public FastPortClientBuilder OnDisconnected(Action<IServiceProvider, Session, CloseReason> disconnected)
    {
        ArgumentNullException.ThrowIfNull(disconnected);
        _subscriptions.Add((provider, client) => client.Disconnected += (session, reason) => disconnected(provider, session, reason));
        return this;
    }

    /// <summary>
    /// Sets the client's transport, or several transports and scheme aliases as a <see cref="TransportCollection"/>. Defaults to the
    /// library's transports.
    /// </summary>
    /// <param name="transport">Gets the root service provider, when the client is created.</param>
    public FastPortClientBuilder UseTransport(Func<IServiceProvider, ITransport> transport)
    {
        ArgumentNullException.ThrowIfNull(transport);
        _transport = transport;
        return this;
    }

    internal FastPortClient Create(IServiceProvider provider, FastPortClientOptions options)
    {
        var handlers = new MessageHandlers();
        foreach (Action<IServiceProvider, MessageHandlers> map in _maps)
        {
            map(provider, handlers);
        }

        var client = new FastPortClient(options, handlers, NamedServices.LoggerFactory(provider), transport: _transport?.Invoke(provider));
        foreach (Action<IServiceProvider, FastPortClient> subscribe in _subscriptions)
        {
            subscribe(provider, client);
        }

        return client;
    }
}
