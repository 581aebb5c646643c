using System.Runtime.CompilerServices;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort;

/// <summary>
/// Creates queued handlers whose instances come from the container. For singletons one instance serves all messages. Otherwise each message
/// gets its own scope, which is disposed when the instance's task has ended, before its result is sent.
/// </summary>
public static class ScopedHandler
{
    /// <summary>Creates a handler of raw messages.</summary>
    /// <typeparam name="THandler">The handler class, registered with the given lifetime.</typeparam>
    /// <param name="provider">The root service provider.</param>
    /// <param name="lifetime">The registered lifetime of the class.</param>
    /// <param name="invoke">Calls the instance.</param>
    public static QueuedHandler Create<THandler>(
        IServiceProvider provider, ServiceLifetime lifetime, Func<THandler, RequestContext, ValueTask> invoke)
        where THandler : class
    {
        ArgumentNullException.ThrowIfNull(invoke);
        Func<RequestContext, RequestContext, ValueTask> call = Create<THandler, RequestContext>(
            provider, lifetime, (handler, context, _) => invoke(handler, context));
        return context => call(context, context);
    }

    /// <summary>Creates a handler of decoded messages without a reply.</summary>
    /// <typeparam name="THandler">The handler class, registered with the given lifetime.</typeparam>
    /// <typeparam name="TMessage">The decoded message.</typeparam>
    /// <param name="provider">The root service provider.</param>
    /// <param name="lifetime">The registered lifetime of the class.</param>
    /// <param name="invoke">Calls the instance.</param>
    public static Func<TMessage, RequestContext, ValueTask> Create<THandler, TMessage>(
        IServiceProvider provider, ServiceLifetime lifetime, Func<THandler, TMessage, RequestContext, ValueTask> invoke)
        where THandler : class
    {
        ArgumentNullException.ThrowIfNull(provider);
        ArgumentNullException.ThrowIfNull(invoke);
        if (lifetime == ServiceLifetime.Singleton)
        {
            return (message, context) => invoke(provider.GetRequiredService<THandler>(), message, context);
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return async (message, context) =>
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using ConfiguredAsyncDisposable end = scope.ConfigureAwait(false);
            await invoke(scope.ServiceProvider.GetRequiredService<THandler>(), message, context).ConfigureAwait(false);
        };
    }

    /// <summary>Creates a handler of decoded messages with a reply.</summary>
    /// <typeparam name="THandler">The handler class, registered with the given lifetime.</typeparam>
    /// <typeparam name="TMessage">The decoded message.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <param name="provider">The root service provider.</param>
    /// <param name="lifetime">The registered lifetime of the class.</param>
    /// <param name="invoke">Calls the instance.</param>
    public static Func<TMessage, RequestContext, ValueTask<TReply>> Create<THandler, TMessage, TReply>(
        IServiceProvider provider, ServiceLifetime lifetime, Func<THandler, TMessage, RequestContext, ValueTask<TReply>> invoke)
        where THandler : class
    {
        ArgumentNullException.ThrowIfNull(provider);
        ArgumentNullException.ThrowIfNull(invoke);
        if (lifetime == ServiceLifetime.Singleton)
        {
            return (message, context) => invoke(provider.GetRequiredService<THandler>(), message, context);
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return async (message, context) =>
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using ConfiguredAsyncDisposable end = scope.ConfigureAwait(false);
            return await invoke(scope.ServiceProvider.GetRequiredService<THandler>(), message, context).ConfigureAwait(false);
        };
    }
}
