using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace FastPort.Configuration;

/// <summary>
/// Services and options of a server or client by its name: keyed services, or plain ones if the name is empty.
/// </summary>
internal static class NamedServices
{
    /// <summary>Adds a singleton.</summary>
    /// <param name="services">The services to add to.</param>
    /// <param name="name">The name; empty for none.</param>
    /// <param name="create">Creates the service, from the root service provider.</param>
    public static void AddSingleton<TService>(IServiceCollection services, string name, Func<IServiceProvider, TService> create)
        where TService : class
    {
        if (name.Length == 0)
        {
            services.AddSingleton(create);
        }
        else
        {
            services.AddKeyedSingleton(name, (provider, _) => create(provider));
        }
    }

    /// <summary>The service of a name.</summary>
    /// <param name="provider">Where to look.</param>
    /// <param name="name">The name; empty for none.</param>
    /// <exception cref="InvalidOperationException">It was not added.</exception>
    public static TService Get<TService>(IServiceProvider provider, string name)
        where TService : class =>
        name.Length == 0 ? provider.GetRequiredService<TService>() : provider.GetRequiredKeyedService<TService>(name);

    /// <summary>The service of a name; null if it was not added.</summary>
    /// <param name="provider">Where to look.</param>
    /// <param name="name">The name; empty for none.</param>
    public static TService? Find<TService>(IServiceProvider provider, string name)
        where TService : class =>
        name.Length == 0 ? provider.GetService<TService>() : provider.GetKeyedService<TService>(name);

    /// <summary>The options of a name.</summary>
    /// <param name="provider">Where to look.</param>
    /// <param name="name">The name; empty for none.</param>
    public static TOptions Options<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicParameterlessConstructor)] TOptions>(
        IServiceProvider provider, string name)
        where TOptions : class =>
        provider.GetRequiredService<IOptionsMonitor<TOptions>>().Get(name);

    /// <summary>Throws if the services already have a <typeparamref name="TService"/> with the same name.</summary>
    /// <param name="services">The services.</param>
    /// <param name="name">The name; empty for none.</param>
    /// <exception cref="InvalidOperationException">There is one with that name.</exception>
    public static void Refuse<TService>(IServiceCollection services, string name)
    {
        if (Has<TService>(services, name))
        {
            string named = name.Length == 0 ? string.Empty : $" named '{name}'";
            throw new InvalidOperationException(
                $"A {typeof(TService).Name}{named} was already added. Give this one another name.");
        }
    }

    /// <summary>Whether a service of a name was added.</summary>
    /// <param name="services">The services.</param>
    /// <param name="name">The name; empty for none.</param>
    public static bool Has<TService>(IServiceCollection services, string name) =>
        services.Any(s => s.ServiceType == typeof(TService) && (name.Length == 0 ? !s.IsKeyedService : name.Equals(s.ServiceKey)));

    /// <summary>The host's logger factory, or one that logs nothing.</summary>
    /// <param name="provider">Where to look.</param>
    public static ILoggerFactory LoggerFactory(IServiceProvider provider) =>
        provider.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance;
}
