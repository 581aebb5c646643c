using FastPort.Dispatch;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Hosting;

/// <summary>What <see cref="FastPortServiceCollectionExtensions.AddFastPort"/> returns: where handlers and hooks are added. Used while the host is being built.</summary>
public sealed class FastPortBuilder
{
    internal FastPortBuilder(IServiceCollection services) => Services = services;

    /// <summary>The host's services.</summary>
    public IServiceCollection Services { get; }

    internal List<Action<IServiceProvider, MessageHandlers>> Maps { get; } = [];

    internal List<Action<IServiceProvider, FastPortServerHooks>> HookSetters { get; } = [];

    /// <summary>Registers handlers when the server is made.</summary>
    /// <param name="map">Gets the handler table.</param>
    public FastPortBuilder Map(Action<MessageHandlers> map)
    {
        ArgumentNullException.ThrowIfNull(map);
        Maps.Add((_, handlers) => map(handlers));
        return this;
    }

    /// <summary>Registers handlers that need services when the server is made.</summary>
    /// <param name="map">Gets the root service provider and the handler table.</param>
    public FastPortBuilder Map(Action<IServiceProvider, MessageHandlers> map)
    {
        ArgumentNullException.ThrowIfNull(map);
        Maps.Add(map);
        return this;
    }

    /// <summary>
    /// Registers a queued handler class from the container. With <see cref="ServiceLifetime.Scoped"/> or Transient each message gets a scope and an
    /// instance of its own, disposed when the handler's task ends; with Singleton one instance serves all.
    /// </summary>
    /// <typeparam name="THandler">The handler class.</typeparam>
    /// <param name="type">Message type.</param>
    /// <param name="lifetime">The class's lifetime. Defaults to scoped.</param>
    public FastPortBuilder AddHandler<
        [System.Diagnostics.CodeAnalysis.DynamicallyAccessedMembers(System.Diagnostics.CodeAnalysis.DynamicallyAccessedMemberTypes.PublicConstructors)] THandler>(
        ushort type, ServiceLifetime lifetime = ServiceLifetime.Scoped)
        where THandler : class, IQueuedMessageHandler
    {
        Services.Add(new ServiceDescriptor(typeof(THandler), typeof(THandler), lifetime));
        return Map((provider, handlers) => handlers.MapQueued(type, ScopedHandler.Create<THandler>(provider, lifetime, static (h, c) => h.HandleAsync(c)), typeof(THandler).Name));
    }

    /// <summary>Sets hooks (authentication, authorisation, transports) when the server is made.</summary>
    /// <param name="configure">Gets the root service provider and the hooks.</param>
    public FastPortBuilder ConfigureHooks(Action<IServiceProvider, FastPortServerHooks> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        HookSetters.Add(configure);
        return this;
    }
}

/// <summary>A queued handler as a class, for handlers that want services injected.</summary>
public interface IQueuedMessageHandler
{
    /// <summary>Handles one message.</summary>
    /// <param name="context">The message, valid until the returned task ends.</param>
    ValueTask HandleAsync(RequestContext context);
}
