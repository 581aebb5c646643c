using FastPort.Protocol.Handlers;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// Registers the methods of one service as handlers, for generated base classes. <see cref="MessageServices"/> creates it.
/// </summary>
public abstract class ServiceMap
{
    private readonly MessageHandlers _handlers;

    private protected ServiceMap(MessageHandlers handlers) => _handlers = handlers;

    /// <summary>Registers a method that runs on the session's loop and must not block.</summary>
    /// <typeparam name="TService">The generated base class.</typeparam>
    /// <typeparam name="TRequest">The request.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <param name="method">The method.</param>
    /// <param name="call">Calls the method of an instance.</param>
    public void MapInline<TService, TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method, Func<TService, TRequest, Session, TReply> call)
        where TService : class
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(call);
        var bodies = new BodyParser<TRequest>(method.Type, method.RequestParser, BytesFields.Copied);
        _handlers.MapInline(method.Type, TypedHandlers.Inline(bodies, Bind(call)), method.FullName);
    }

    /// <summary>Registers a method that runs outside the loop and may wait.</summary>
    /// <typeparam name="TService">The generated base class.</typeparam>
    /// <typeparam name="TRequest">The request.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <param name="method">The method.</param>
    /// <param name="call">Calls the method of an instance.</param>
    /// <param name="beginsOnLoop">
    /// Whether the method may begin on the session's loop; see <see cref="MessageHandlers.MapQueued"/>. Defaults to false.
    /// </param>
    public void MapQueued<TService, TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method,
        Func<TService, TRequest, RequestContext, ValueTask<TReply>> call,
        bool beginsOnLoop = false)
        where TService : class
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(call);
        var bodies = new BodyParser<TRequest>(method.Type, method.RequestParser, BytesFields.Copied);
        _handlers.MapQueued(method.Type, TypedHandlers.Queued(bodies, Bind(call)), method.FullName, beginsOnLoop);
    }

    /// <summary>The method on the instance that serves the message.</summary>
    private protected abstract Func<TRequest, Session, TReply> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, Session, TReply> call)
        where TService : class;

    /// <inheritdoc cref="Bind{TService, TRequest, TReply}(Func{TService, TRequest, Session, TReply})"/>
    private protected abstract Func<TRequest, RequestContext, ValueTask<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, RequestContext, ValueTask<TReply>> call)
        where TService : class;
}
