using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;

namespace FastPort.Configuration;

/// <summary>Services and options of a server or client by its name: keyed services, or plain ones if the name is empty.</summary>
internal static class Named
{
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

    public static TService Get<TService>(IServiceProvider provider, string name)
        where TService : class =>
        name.Length == 0 ? provider.GetRequiredService<TService>() : provider.GetRequiredKeyedService<TService>(name);

    public static TOptions Options<[DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicParameterlessConstructor)] TOptions>(
        IServiceProvider provider, string name)
        where TOptions : class =>
        provider.GetRequiredService<IOptionsMonitor<TOptions>>().Get(name);

    /// <summary>Throws if the services already have a <typeparamref name="TService"/> with the same name.</summary>
    public static void Refuse<TService>(IServiceCollection services, string name)
    {
        if (services.Any(s => s.ServiceType == typeof(TService) && (name.Length == 0 ? !s.IsKeyedService : name.Equals(s.ServiceKey))))
        {
            string named = name.Length == 0 ? string.Empty : $" named '{name}'";
            throw new InvalidOperationException(
                $"A {typeof(TService).Name}{named} was already added. Give this one another name.");
        }
    }

    public static ILoggerFactory LoggerFactory(IServiceProvider provider) =>
        provider.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance;
}
