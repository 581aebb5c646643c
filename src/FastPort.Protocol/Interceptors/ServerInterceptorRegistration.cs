using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace FastPort.Protocol;

/// <summary>Registers interceptors with a server in a host.</summary>
public static class ServerInterceptorRegistration
{
    /// <summary>
    /// Puts an interceptor around the methods of all services of the server, before or after <c>MapService</c>. The first one registered is
    /// the outermost.
    /// </summary>
    /// <typeparam name="TInterceptor">
    /// The class. The container creates one instance for all calls, unless the class is registered otherwise; it must not be scoped.
    /// </typeparam>
    /// <param name="builder">The return value of AddFastPort.</param>
    public static FastPortBuilder AddServerInterceptor<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] TInterceptor>(this FastPortBuilder builder)
        where TInterceptor : class, IServerInterceptor
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.TryAddSingleton<TInterceptor>();
        builder.Services.AddKeyedSingleton<IServerInterceptor>(
            builder.Name, static (provider, _) => provider.GetRequiredService<TInterceptor>());
        return builder;
    }
}
