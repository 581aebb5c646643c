using FastPort.Protocol.Interceptors;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>The peer that a generated client calls: the server of a client, or the peer of a session. Thread-safe.</summary>
public readonly struct ServicePeer
{
    private readonly IFastPortClient? _client;
    private readonly Session? _session;
    private readonly IClientInterceptor[]? _interceptors;

    /// <summary>The server of a client.</summary>
    /// <param name="client">The client.</param>
    public ServicePeer(IFastPortClient client)
    {
        ArgumentNullException.ThrowIfNull(client);
        _client = client;
    }

    /// <summary>The peer of a session, for example for a server that calls its client.</summary>
    /// <param name="session">The session; on the accepting side its peer must have sent Hello.</param>
    public ServicePeer(Session session)
    {
        ArgumentNullException.ThrowIfNull(session);
        _session = session;
    }

    private ServicePeer(ServicePeer peer, IClientInterceptor[] interceptors)
    {
        _client = peer._client;
        _session = peer._session;
        _interceptors = interceptors;
    }

    private ServicePeer WithoutInterceptors => _client is not null ? new ServicePeer(_client) : new ServicePeer(_session!);

    /// <summary>The same peer with interceptors around its calls, within those that it has.</summary>
    /// <param name="interceptors">The interceptors; the first one is the outermost.</param>
    public ServicePeer Intercept(params IClientInterceptor[] interceptors)
    {
        ArgumentNullException.ThrowIfNull(interceptors);
        foreach (IClientInterceptor interceptor in interceptors)
        {
            ArgumentNullException.ThrowIfNull(interceptor, nameof(interceptors));
        }

        return new ServicePeer(this, [.. _interceptors ?? [], .. interceptors]);
    }

    /// <summary>Calls a method. Do not await it in an inline handler.</summary>
    /// <param name="method">The method.</param>
    /// <param name="request">The request; do not change it until the task ends.</param>
    /// <param name="timeout">
    /// Time for the whole call; zero for no limit. Defaults to the client's request timeout; with a session to 30 s.
    /// </param>
    /// <param name="cancellationToken">Cancels the call; the peer receives Cancel.</param>
    /// <exception cref="RequestFailedException">The peer answered with an error, or no reply came.</exception>
    public Task<TReply> CallAsync<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method, TRequest request, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(request);
        return _interceptors is not null
            ? Intercepted(method)(
                new ClientCall<TRequest>(method.FullName, method.Type, request, timeout, wholeTimeout: null, cancellationToken))
            : _client is not null
                ? _client.RequestAsync(method.Type, request, method.ReplyParser, timeout, cancellationToken)
                : _session!.RequestAsync(method.Type, request, method.ReplyParser, timeout, cancellationToken);
    }

    /// <summary>Calls a method whose replies are a stream.</summary>
    /// <param name="method">The method.</param>
    /// <param name="request">The request; do not change it until the first reply has come.</param>
    /// <param name="timeout">
    /// Time to the first reply; zero for no limit. Defaults to the client's request timeout; with a session to 30 s.
    /// </param>
    /// <param name="wholeTimeout">Time for the whole call; zero for no limit. Defaults to no limit.</param>
    /// <param name="cancellationToken">Cancels the call; the peer receives Cancel.</param>
    /// <returns>
    /// The replies. Enumerate them once: the call begins with the first one that is asked for, and ends with the enumeration. It throws
    /// <see cref="RequestFailedException"/> if the call fails.
    /// </returns>
    public IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method,
        TRequest request,
        TimeSpan? timeout = null,
        TimeSpan? wholeTimeout = null,
        CancellationToken cancellationToken = default)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(request);
        return _interceptors is not null
            ? InterceptedStream(method)(
                new ClientCall<TRequest>(method.FullName, method.Type, request, timeout, wholeTimeout, cancellationToken))
            : _client is not null
                ? _client.StreamAsync(method.Type, request, method.ReplyParser, timeout, wholeTimeout, cancellationToken)
                : _session!.StreamAsync(method.Type, request, method.ReplyParser, timeout, wholeTimeout, cancellationToken);
    }

    /// <summary>Calls a method whose requests are a stream.</summary>
    /// <param name="method">The method.</param>
    /// <param name="requests">
    /// The requests, enumerated on the thread pool as the peer reads them. Their token is canceled when the call ends before.
    /// </param>
    /// <param name="timeout">
    /// Time for the whole call; zero for no limit. Defaults to the client's request timeout; with a session to 30 s.
    /// </param>
    /// <param name="cancellationToken">Cancels the call; the peer receives Cancel.</param>
    /// <exception cref="RequestFailedException">The peer answered with an error, or no reply came.</exception>
    public Task<TReply> SendStreamAsync<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method,
        IAsyncEnumerable<TRequest> requests,
        TimeSpan? timeout = null,
        CancellationToken cancellationToken = default)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(requests);
        return _interceptors is not null
            ? InterceptedSend(method)(
                new ClientCall<IAsyncEnumerable<TRequest>>(
                    method.FullName, method.Type, requests, timeout, wholeTimeout: null, cancellationToken))
            : _client is not null
                ? _client.SendStreamAsync(method.Type, requests, method.ReplyParser, timeout, cancellationToken)
                : _session!.SendStreamAsync(method.Type, requests, method.ReplyParser, timeout, cancellationToken);
    }

    /// <summary>Calls a method whose requests and replies are streams. The two are independent: either may end before the other.</summary>
    /// <param name="method">The method.</param>
    /// <param name="requests">
    /// The requests, enumerated on the thread pool as the peer reads them. Their token is canceled when the call ends before. An exception
    /// of theirs ends the call.
    /// </param>
    /// <param name="timeout">
    /// Time to the first reply; zero for no limit. Defaults to the client's request timeout; with a session to 30 s.
    /// </param>
    /// <param name="wholeTimeout">Time for the whole call; zero for no limit. Defaults to no limit.</param>
    /// <param name="cancellationToken">Cancels the call; the peer receives Cancel.</param>
    /// <returns>
    /// The replies. Enumerate them once: the call begins with the first one that is asked for, and ends with the enumeration. It throws
    /// <see cref="RequestFailedException"/> if the call fails.
    /// </returns>
    public IAsyncEnumerable<TReply> ExchangeAsync<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method,
        IAsyncEnumerable<TRequest> requests,
        TimeSpan? timeout = null,
        TimeSpan? wholeTimeout = null,
        CancellationToken cancellationToken = default)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ArgumentNullException.ThrowIfNull(method);
        ArgumentNullException.ThrowIfNull(requests);
        return _interceptors is not null
            ? InterceptedExchange(method)(
                new ClientCall<IAsyncEnumerable<TRequest>>(
                    method.FullName, method.Type, requests, timeout, wholeTimeout, cancellationToken))
            : _client is not null
                ? _client.ExchangeAsync(method.Type, requests, method.ReplyParser, timeout, wholeTimeout, cancellationToken)
                : _session!.ExchangeAsync(method.Type, requests, method.ReplyParser, timeout, wholeTimeout, cancellationToken);
    }

    // In methods of their own: a call without interceptors allocates no closure.
    private Func<ClientCall<TRequest>, Task<TReply>> Intercepted<TRequest, TReply>(ServiceMethod<TRequest, TReply> method)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ServicePeer peer = WithoutInterceptors;
        return Chains.Around<IClientInterceptor, ClientCall<TRequest>, Task<TReply>>(
            _interceptors!,
            call => peer.CallAsync(method, call.Request, call.Timeout, call.CancellationToken),
            static (interceptor, call, next) => interceptor.CallAsync(call, next));
    }

    private Func<ClientCall<TRequest>, IAsyncEnumerable<TReply>> InterceptedStream<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ServicePeer peer = WithoutInterceptors;
        return Chains.Around<IClientInterceptor, ClientCall<TRequest>, IAsyncEnumerable<TReply>>(
            _interceptors!,
            call => peer.StreamAsync(method, call.Request, call.Timeout, call.WholeTimeout, call.CancellationToken),
            static (interceptor, call, next) => interceptor.StreamAsync(call, next));
    }

    private Func<ClientCall<IAsyncEnumerable<TRequest>>, Task<TReply>> InterceptedSend<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ServicePeer peer = WithoutInterceptors;
        return Chains.Around<IClientInterceptor, ClientCall<IAsyncEnumerable<TRequest>>, Task<TReply>>(
            _interceptors!,
            call => peer.SendStreamAsync(method, call.Request, call.Timeout, call.CancellationToken),
            static (interceptor, call, next) => interceptor.CallAsync(call, next));
    }

    private Func<ClientCall<IAsyncEnumerable<TRequest>>, IAsyncEnumerable<TReply>> InterceptedExchange<TRequest, TReply>(
        ServiceMethod<TRequest, TReply> method)
        where TRequest : IMessage<TRequest>
        where TReply : IMessage<TReply>
    {
        ServicePeer peer = WithoutInterceptors;
        return Chains.Around<IClientInterceptor, ClientCall<IAsyncEnumerable<TRequest>>, IAsyncEnumerable<TReply>>(
            _interceptors!,
            call => peer.ExchangeAsync(method, call.Request, call.Timeout, call.WholeTimeout, call.CancellationToken),
            static (interceptor, call, next) => interceptor.StreamAsync(call, next));
    }
}
