using System.Runtime.CompilerServices;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Protocol.Services;

/// <summary>The container creates the instances: one for all messages, or one for each in its own scope.</summary>
/// <typeparam name="TClass">The registered class, derived from the generated base class.</typeparam>
internal sealed class ContainerServiceMap<TClass>(
    MessageHandlers handlers, IServerInterceptor[] interceptors, IServiceProvider provider, ServiceLifetime lifetime)
    : ServiceMap(handlers, interceptors)
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

    private protected override Func<TRequest, StreamContext, CancellationToken, ValueTask<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, StreamContext, CancellationToken, ValueTask<TReply>> call)
    {
        if (lifetime == ServiceLifetime.Singleton)
        {
            TService? instance = null;
            return (request, context, canceled) => call(instance ??= InstanceOf<TService>(provider), request, context, canceled);
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return async (request, context, canceled) =>
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using ConfiguredAsyncDisposable _ = scope.ConfigureAwait(false);
            return await call(InstanceOf<TService>(scope.ServiceProvider), request, context, canceled).ConfigureAwait(false);
        };
    }

    private protected override Func<TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> call)
    {
        if (lifetime == ServiceLifetime.Singleton)
        {
            TService? instance = null;
            return (request, context, canceled) => call(instance ??= InstanceOf<TService>(provider), request, context, canceled);
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return (request, context, canceled) => InScopeAsync(request, context, canceled);

        // The scope lives as long as the stream of replies.
        async IAsyncEnumerable<TReply> InScopeAsync(
            TRequest request, StreamContext context, [EnumeratorCancellation] CancellationToken canceled)
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using ConfiguredAsyncDisposable _ = scope.ConfigureAwait(false);
            IAsyncEnumerable<TReply> replies = call(InstanceOf<TService>(scope.ServiceProvider), request, context, canceled);
            await foreach (TReply reply in replies.ConfigureAwait(false))
            {
                yield return reply;
            }
        }
    }

    private static TService InstanceOf<TService>(IServiceProvider provider) =>
        (TService)(object)provider.GetRequiredService<TClass>();
}
