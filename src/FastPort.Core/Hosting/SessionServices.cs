using System.Runtime.CompilerServices;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Hosting;

/// <summary>
/// Creates components from the services registered for them. A named server uses the service registered under its name, or else the one
/// without a name.
/// </summary>
internal static class SessionServices
{
    public static Authenticator? FindAuthenticator(IServiceProvider provider, FastPortBuilder builder)
    {
        if (Find<IAuthenticator>(builder) is not { } service)
        {
            return null;
        }

        if (service.Lifetime == ServiceLifetime.Singleton)
        {
            return Get<IAuthenticator>(provider, service).AuthenticateAsync;
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return async (hello, cancellationToken) =>
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using ConfiguredAsyncDisposable end = scope.ConfigureAwait(false);
            IAuthenticator authenticator = Get<IAuthenticator>(scope.ServiceProvider, service);
            return await authenticator.AuthenticateAsync(hello, cancellationToken).ConfigureAwait(false);
        };
    }

    public static Authorizer? FindAuthorizer(IServiceProvider provider, FastPortBuilder builder)
    {
        if (Find<IAuthorizer>(builder) is not { } service)
        {
            return null;
        }

        if (service.Lifetime == ServiceLifetime.Singleton)
        {
            return Get<IAuthorizer>(provider, service).AuthorizeAsync;
        }

        IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
        return async (request, cancellationToken) =>
        {
            AsyncServiceScope scope = scopes.CreateAsyncScope();
            await using ConfiguredAsyncDisposable end = scope.ConfigureAwait(false);
            IAuthorizer authorizer = Get<IAuthorizer>(scope.ServiceProvider, service);
            return await authorizer.AuthorizeAsync(request, cancellationToken).ConfigureAwait(false);
        };
    }

    // The registered lifetime decides whether a scope is needed.
    private static ServiceDescriptor? Find<TService>(FastPortBuilder builder) =>
        builder.Services.LastOrDefault(s => s.ServiceType == typeof(TService) && s.IsKeyedService && builder.Name.Equals(s.ServiceKey))
        ?? builder.Services.LastOrDefault(static s => s.ServiceType == typeof(TService) && !s.IsKeyedService);

    private static TService Get<TService>(IServiceProvider provider, ServiceDescriptor service)
        where TService : class =>
        service.IsKeyedService ? provider.GetRequiredKeyedService<TService>(service.ServiceKey) : provider.GetRequiredService<TService>();
}
