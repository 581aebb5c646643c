using FastPort.Protocol.Services;

namespace FastPort.Protocol;

/// <summary>Registers services, whose methods a <c>.proto</c> file lists, with a server or a client.</summary>
public static class MessageServices
{
    /// <summary>Registers the methods of a service, all served by one instance.</summary>
    /// <typeparam name="TService">The class, derived from the base class that the build generates for the service.</typeparam>
    /// <param name="handlers">The table.</param>
    /// <param name="service">The instance; several sessions may call it at the same time. It is not disposed.</param>
    /// <param name="interceptors">Run around the methods; the first one is the outermost. Defaults to none.</param>
    /// <exception cref="ArgumentException">A message type of a method is already registered.</exception>
    /// <exception cref="InvalidOperationException">The server or client has been started.</exception>
    public static MessageHandlers MapService<TService>(
        this MessageHandlers handlers, TService service, params IServerInterceptor[] interceptors)
        where TService : class, IMessageService
    {
        ArgumentNullException.ThrowIfNull(handlers);
        ArgumentNullException.ThrowIfNull(service);
        ArgumentNullException.ThrowIfNull(interceptors);
        TService.MapMethods(new InstanceServiceMap(handlers, interceptors, service));
        return handlers;
    }
}
