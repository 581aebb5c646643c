using System.Diagnostics.CodeAnalysis;
using FastPort.Telemetry;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort;

/// <summary>Returned by <c>services.AddFastPort</c>: adds handlers and components while the host is being built.</summary>
public sealed class FastPortBuilder
{
    internal FastPortBuilder(IServiceCollection services, string name)
    {
        Services = services;
        Name = name;
    }

    /// <summary>The host's services.</summary>
    public IServiceCollection Services { get; }

    /// <summary>The server's name; empty for the server without a name.</summary>
    public string Name { get; }

    internal List<Action<IServiceProvider, MessageHandlers>> Maps { get; } = [];

    internal List<Action<IServiceProvider, FastPortServerComponents>> ComponentSetters { get; } = [];

    internal List<Action<IServiceProvider, FastPortServer>> Subscriptions { get; } = [];

    internal bool MeasuresLatencies { get; private set; }

    /// <summary>Registers handlers when the server is created.</summary>
    /// <param name="map">Receives the handler table.</param>
    public FastPortBuilder Map(Action<MessageHandlers> map)
    {
        ArgumentNullException.ThrowIfNull(map);
        Maps.Add((_, handlers) => map(handlers));
        return this;
    }

    /// <summary>Registers handlers that need services when the server is created.</summary>
    /// <param name="map">Receives the root service provider and the handler table.</param>
    public FastPortBuilder Map(Action<IServiceProvider, MessageHandlers> map)
    {
        ArgumentNullException.ThrowIfNull(map);
        Maps.Add(map);
        return this;
    }

    /// <summary>
    /// Registers a queued handler class that the container creates. With <see cref="ServiceLifetime.Scoped"/> or Transient each message
    /// gets its own scope and instance, disposed when the handler's task ends; with Singleton one instance serves all messages.
    /// </summary>
    /// <typeparam name="THandler">
    /// The handler class. If it is already registered (for example with a factory), that registration is used.
    /// </typeparam>
    /// <param name="type">Message type.</param>
    /// <param name="lifetime">The class's lifetime. Defaults to scoped.</param>
    /// <exception cref="ArgumentException">The class is already registered with another lifetime.</exception>
    public FastPortBuilder AddHandler<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(
        ushort type, ServiceLifetime lifetime = ServiceLifetime.Scoped)
        where THandler : class, IQueuedMessageHandler
    {
        AddHandlerClass<THandler>(lifetime);
        return Map(
            (provider, handlers) => handlers.MapQueued(
                type, ScopedHandler.Create<THandler>(provider, lifetime, static (h, c) => h.HandleAsync(c)), typeof(THandler).Name));
    }

    /// <summary>
    /// Registers a handler class with the container without mapping a type to it, for extensions that map it with
    /// <see cref="ScopedHandler"/>. A class that is already registered keeps its registration, so one class can serve several types.
    /// </summary>
    /// <typeparam name="THandler">The handler class.</typeparam>
    /// <param name="lifetime">The class's lifetime.</param>
    /// <exception cref="ArgumentException">The class is already registered with another lifetime.</exception>
    public FastPortBuilder AddHandlerClass<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(ServiceLifetime lifetime)
        where THandler : class
    {
        ServiceDescriptor? existing = Services.LastOrDefault(static s => s.ServiceType == typeof(THandler) && !s.IsKeyedService);
        if (existing is null)
        {
            Services.Add(new ServiceDescriptor(typeof(THandler), typeof(THandler), lifetime));
        }
        else if (existing.Lifetime != lifetime)
        {
            throw new ArgumentException(
                $"{typeof(THandler).Name} is already registered as {existing.Lifetime} and cannot be {lifetime} as well; give both the "
                + $"same lifetime.", nameof(lifetime));
        }

        return this;
    }

    /// <summary>Sets components (authentication, authorization, transports) when the server is created.</summary>
    /// <param name="configure">Receives the root service provider and the components.</param>
    public FastPortBuilder ConfigureComponents(Action<IServiceProvider, FastPortServerComponents> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        ComponentSetters.Add(configure);
        return this;
    }

    /// <summary>
    /// Measures handled messages even if no report is written, for <see cref="LatencyStats.Read"/> and for listeners of the durations of
    /// meter <c>FastPort</c>. Defaults to off, which saves some tens of KiB per message type and processor.
    /// </summary>
    public FastPortBuilder MeasureLatencies()
    {
        MeasuresLatencies = true;
        return this;
    }

    /// <summary>Subscribes to <see cref="FastPortServer.SessionOpened"/> when the server is created, so before its first session.</summary>
    /// <param name="opened">Receives the root service provider and the session. Runs on the session's loop; must not block.</param>
    public FastPortBuilder OnSessionOpened(Action<IServiceProvider, Session> opened)
    {
        ArgumentNullException.ThrowIfNull(opened);
        Subscriptions.Add((provider, server) => server.SessionOpened += session => opened(provider, session));
        return this;
    }

    /// <summary>
    /// Subscribes to <see cref="FastPortServer.SessionIdentified"/> when the server is created, so before its first session.
    /// </summary>
    /// <param name="identified">Receives the root service provider and the session. Runs on the session's loop; must not block.</param>
    public FastPortBuilder OnSessionIdentified(Action<IServiceProvider, Session> identified)
    {
        ArgumentNullException.ThrowIfNull(identified);
        Subscriptions.Add((provider, server) => server.SessionIdentified += session => identified(provider, session));
        return this;
    }

    /// <summary>Subscribes to <see cref="FastPortServer.HelloRefused"/> when the server is created, so before its first session.</summary>
    /// <param name="refused">
    /// Receives the root service provider, the session and the reason. Runs on the session's loop; must not block.
    /// </param>
    public FastPortBuilder OnHelloRefused(Action<IServiceProvider, Session, HelloRefusal> refused)
    {
        ArgumentNullException.ThrowIfNull(refused);
        Subscriptions.Add((provider, server) => server.HelloRefused += (session, refusal) => refused(provider, session, refusal));
        return this;
    }

    /// <summary>Subscribes to <see cref="FastPortServer.CertificateChanged"/> when the server is created.</summary>
    /// <param name="changed">Receives the root service provider and the new certificate. Runs on the thread pool; must not block.</param>
    public FastPortBuilder OnCertificateChanged(Action<IServiceProvider, CertificateInfo> changed)
    {
        ArgumentNullException.ThrowIfNull(changed);
        Subscriptions.Add((provider, server) => server.CertificateChanged += certificate => changed(provider, certificate));
        return this;
    }

    /// <summary>Subscribes to <see cref="FastPortServer.SessionClosed"/> when the server is created, so before its first session.</summary>
    /// <param name="closed">
    /// Receives the root service provider, the session and the reason. Runs on the session's loop; must not block.
    /// </param>
    public FastPortBuilder OnSessionClosed(Action<IServiceProvider, Session, CloseReason> closed)
    {
        ArgumentNullException.ThrowIfNull(closed);
        Subscriptions.Add((provider, server) => server.SessionClosed += (session, reason) => closed(provider, session, reason));
        return this;
    }
}

/// <summary>A queued handler as a class, for handlers with injected services.</summary>
public interface IQueuedMessageHandler
{
    /// <summary>Handles one message.</summary>
    /// <param name="context">The message, valid until the returned task ends.</param>
    ValueTask HandleAsync(RequestContext context);
}
