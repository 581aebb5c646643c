using Microsoft.Extensions.DependencyInjection;

namespace FastPort.OpcUa.Hosting;

/// <summary>Names of servers and clients, which are the keys of their services.</summary>
internal static class ServiceName
{
    /// <summary>The key of a service that is about to be added: null, which is a service without a key, for the empty name.</summary>
    /// <param name="services">The services.</param>
    /// <param name="name">The name; empty for none.</param>
    /// <exception cref="InvalidOperationException">There is one with that name.</exception>
    public static string? NewKey<TService>(IServiceCollection services, string name)
    {
        string? key = name.Length == 0 ? null : name;
        if (services.Any(one => one.ServiceType == typeof(TService) && Equals(one.ServiceKey, key)))
        {
            string named = key is null ? string.Empty : $" named '{name}'";
            throw new InvalidOperationException($"A {typeof(TService).Name}{named} was already added. Give this one another name.");
        }

        return key;
    }
}
