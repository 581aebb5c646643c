using System.Diagnostics.CodeAnalysis;
using FastPort.Protocol.Services;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Protocol;

/// <summary>Registers services, whose methods a <c>.proto</c> file lists, with a server in a host.</summary>
public static class MessageServiceRegistration
{
    /// <summary>
    /// Registers the methods of a service with a server in a host. With <see cref="ServiceLifetime.Scoped"/> or Transient each message gets
    /// its own scope and instance, disposed before the reply is sent; with Singleton one instance serves all sessions concurrently. What
    /// an inline method's scope creates must be disposable synchronously. A body that cannot be parsed creates no instance.
    /// </summary>
    /// <typeparam name="TService">
    /// The class, derived from the base class that the build generates for the service; an existing registration of the class is used.
    /// </typeparam>
    /// <param name="builder">The return value of AddFastPort.</param>
    /// <param name="lifetime">The class's lifetime. Defaults to scoped.</param>
    /// <exception cref="ArgumentException">The class is already registered with another lifetime.</exception>
    public static FastPortBuilder MapService<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] TService>(
        this FastPortBuilder builder, ServiceLifetime lifetime = ServiceLifetime.Scoped)
        where TService : class, IMessageService
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddHandlerClass<TService>(lifetime).Map((provider, handlers) =>
            TService.MapMethods(new ContainerServiceMap<TService>(
                handlers, [.. provider.GetKeyedServices<IServerInterceptor>(builder.Name)], provider, lifetime)));
    }
}
