using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Protocol.Services;

/// <summary>The container creates the instances: one for all messages, or one for each in its own scope.</summary>
/// <typeparam name="TClass">The registered class, derived from the generated base class.</typeparam>
internal sealed class ContainerServiceMap<TClass>(MessageHandlers handlers, IServiceProvider provider, ServiceLifetime lifetime)
    : ServiceMap(handlers)
    where TClass : class
{
    private protected override Func<TRequest, Session, TReply> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, Session, TReply> call)
    {
        if (lifetime == ServiceLifetime.Singleton)
        {
            // Not created before the first message: its constructor may need the server, which is being created now.
            TService? instance = null;
            return (request, session) => call(instance ??= InstanceOf<TService>(provider), request, session);
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return (request, session) =>
        {
            using IServiceScope scope = scopes.CreateScope();
            return call(InstanceOf<TService>(scope.ServiceProvider), request, session);
        };
    }

    private protected override Func<TRequest, RequestContext, ValueTask<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, RequestContext, ValueTask<TReply>> call) =>
        ScopedHandler.Create<TClass, TRequest, TReply>(
            provider, lifetime, (service, request, context) => call((TService)(object)service, request, context));

    private static TService InstanceOf<TService>(IServiceProvider provider) =>
        (TService)(object)provider.GetRequiredService<TClass>();
}
