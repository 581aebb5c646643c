using FastPort.Dispatch;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Hosting;

/// <summary>Makes queued handlers that take their instance from the container.</summary>
public static class ScopedHandler
{
    /// <summary>A handler that resolves <typeparamref name="THandler"/> for each message in a scope of its own, or once for singletons.</summary>
    /// <typeparam name="THandler">The handler class, registered with the given lifetime.</typeparam>
    /// <param name="provider">The root service provider.</param>
    /// <param name="lifetime">The lifetime the class is registered with.</param>
    /// <param name="invoke">Calls the instance.</param>
    public static QueuedHandler Create<THandler>(
        IServiceProvider provider, ServiceLifetime lifetime, Func<THandler, RequestContext, ValueTask> invoke)
        where THandler : class
    {
        ArgumentNullException.ThrowIfNull(provider);
        ArgumentNullException.ThrowIfNull(invoke);
        if (lifetime == ServiceLifetime.Singleton)
        {
            return context => invoke(provider.GetRequiredService<THandler>(), context);
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return async context =>
        {
            await using AsyncServiceScope scope = scopes.CreateAsyncScope();
            await invoke(scope.ServiceProvider.GetRequiredService<THandler>(), context).ConfigureAwait(false);
        };
    }
}
