using FastPort.Protocol.Handlers;
using FastPort.Protocol.Interceptors;
using FastPort.Protocol.Streams;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// Registers the methods of one service as handlers, for generated base classes. <see cref="MessageServices"/> creates it.
/// </summary>
public abstract class ServiceMap
{
    private readonly MessageHandlers _handlers;
    private readonly IServerInterceptor[] _interceptors;

    private protected ServiceMap(MessageHandlers handlers, IServerInterceptor[] interceptors)
    {
        _handlers = handlers;
        _interceptors = interceptors;
    }

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
        Func<TRequest, Session, TReply> bound = Bind(call);
        if (_interceptors.Length != 0)
        {
            Func<ServerCall<TRequest>, ValueTask<TReply>> chain =
                Around<TRequest, TReply>(one => ValueTask.FromResult(bound(one.Request, one.Session)));
            _handlers.MapPostponing(method.Type, InterceptedInline.Create(method, chain), method.FullName);
            return;
        }

        var bodies = new BodyParser<TRequest>(method.Type, method.RequestParser, BytesFields.Copied);
        _handlers.MapInline(method.Type, TypedHandlers.Inline(bodies, bound), method.FullName);
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
        Func<TRequest, RequestContext, ValueTask<TReply>> bound = Bind(call);
        if (_interceptors.Length != 0)
        {
            Func<TRequest, RequestContext, ValueTask<TReply>> last = bound;
            Func<ServerCall<TRequest>, ValueTask<TReply>> chain = Around<TRequest, TReply>(one => last(one.Request, one.Context!));
            bound = (request, context) => chain(new ServerCall<TRequest>(method.FullName, method.Type, request, context));
        }

        var bodies = new BodyParser<TRequest>(method.Type, method.RequestParser, BytesFields.Copied);
        _handlers.MapQueued(method.Type, TypedHandlers.Queued(bodies, bound), method.FullName, beginsOnLoop);
    }

    /// <summary>Registers a method with one request and a stream of replies.</summary>
    /// <typeparam name="TService">The generated base class.</typeparam>
    /// <typeparam name="TRequest">The request.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <param name="method">The method.</param>
    /// <param name="call">Calls the method of an instance.</param>
    public void MapServerStream<TService, TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method,
        Func<TService, TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> call)
        where TService : class
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(call);
        _handlers.MapStream(
            method.Type,
            TypedStreamHandlers.ServerStream(method.Type, method.RequestParser, Intercepted(method, Bind(call))),
            method.FullName);
    }

    /// <summary>Registers a method with a stream of requests and one reply.</summary>
    /// <typeparam name="TService">The generated base class.</typeparam>
    /// <typeparam name="TRequest">The request.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <param name="method">The method.</param>
    /// <param name="call">Calls the method of an instance.</param>
    public void MapClientStream<TService, TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method,
        Func<TService, IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, ValueTask<TReply>> call)
        where TService : class
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(call);
        Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, ValueTask<TReply>> bound = Bind(call);
        if (_interceptors.Length != 0)
        {
            Func<IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, ValueTask<TReply>> last = bound;
            Func<ServerCall<IAsyncEnumerable<TRequest>>, ValueTask<TReply>> chain =
                Around<IAsyncEnumerable<TRequest>, TReply>(one => last(one.Request, one.Stream!, one.CancellationToken));
            bound = (requests, stream, canceled) => chain(
                new ServerCall<IAsyncEnumerable<TRequest>>(method.FullName, method.Type, requests, stream, canceled));
        }

        _handlers.MapStream(
            method.Type, TypedStreamHandlers.ClientStream(method.Type, method.RequestParser, bound), method.FullName);
    }

    /// <summary>Registers a method with a stream of requests and a stream of replies.</summary>
    /// <typeparam name="TService">The generated base class.</typeparam>
    /// <typeparam name="TRequest">The request.</typeparam>
    /// <typeparam name="TReply">The reply.</typeparam>
    /// <param name="method">The method.</param>
    /// <param name="call">Calls the method of an instance.</param>
    public void MapDuplex<TService, TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method,
        Func<TService, IAsyncEnumerable<TRequest>, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> call)
        where TService : class
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(call);
        _handlers.MapStream(
            method.Type,
            TypedStreamHandlers.Duplex(method.Type, method.RequestParser, Intercepted(method, Bind(call))),
            method.FullName);
    }

    private Func<ServerCall<TIn>, ValueTask<TReply>> Around<TIn, TReply>(Func<ServerCall<TIn>, ValueTask<TReply>> method) =>
        Chains.Around<IServerInterceptor, ServerCall<TIn>, ValueTask<TReply>>(
            _interceptors, method, static (interceptor, one, next) => interceptor.CallAsync(one, next));

    private Func<TIn, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> Intercepted<TRequest, TReply, TIn>(
        ServiceMethod<TRequest, TReply> method, Func<TIn, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> bound)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        if (_interceptors.Length == 0)
        {
            return bound;
        }

        Func<ServerCall<TIn>, IAsyncEnumerable<TReply>> chain =
            Chains.Around<IServerInterceptor, ServerCall<TIn>, IAsyncEnumerable<TReply>>(
                _interceptors,
                one => bound(one.Request, one.Stream!, one.CancellationToken),
                static (interceptor, one, next) => interceptor.StreamAsync(one, next));
        return (request, stream, canceled) => chain(new ServerCall<TIn>(method.FullName, method.Type, request, stream, canceled));
    }

    /// <summary>The method on the instance that serves the message.</summary>
    private protected abstract Func<TRequest, Session, TReply> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, Session, TReply> call)
        where TService : class;

    /// <inheritdoc cref="Bind{TService, TRequest, TReply}(Func{TService, TRequest, Session, TReply})"/>
    private protected abstract Func<TRequest, RequestContext, ValueTask<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, RequestContext, ValueTask<TReply>> call)
        where TService : class;

    /// <inheritdoc cref="Bind{TService, TRequest, TReply}(Func{TService, TRequest, Session, TReply})"/>
    private protected abstract Func<TRequest, StreamContext, CancellationToken, ValueTask<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, StreamContext, CancellationToken, ValueTask<TReply>> call)
        where TService : class;

    /// <inheritdoc cref="Bind{TService, TRequest, TReply}(Func{TService, TRequest, Session, TReply})"/>
    private protected abstract Func<TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> call)
        where TService : class;
}
