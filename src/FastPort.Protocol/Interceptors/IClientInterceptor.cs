namespace FastPort.Protocol;

/// <summary>
/// Code around the calls of generated clients, such as logging, metrics or retries. <see cref="ServicePeer.Intercept"/> installs it.
/// Several calls may run at the same time.
/// </summary>
public interface IClientInterceptor
{
    /// <summary>Runs around a call with one reply. Defaults to the call alone.</summary>
    /// <typeparam name="TRequest">
    /// The request's message, or <see cref="IAsyncEnumerable{T}"/> of it if the requests are a stream.
    /// </typeparam>
    /// <typeparam name="TReply">The reply's message.</typeparam>
    /// <param name="call">The call.</param>
    /// <param name="next">
    /// Makes the call, through the interceptors behind this one. It may be called with a changed copy of the call, several times or not
    /// at all. A stream of requests can be sent once.
    /// </param>
    Task<TReply> CallAsync<TRequest, TReply>(ClientCall<TRequest> call, Func<ClientCall<TRequest>, Task<TReply>> next) => next(call);

    /// <summary>Runs around a call whose replies are a stream. Defaults to the call alone.</summary>
    /// <typeparam name="TRequest">
    /// The request's message, or <see cref="IAsyncEnumerable{T}"/> of it if the requests are a stream.
    /// </typeparam>
    /// <typeparam name="TReply">A reply's message.</typeparam>
    /// <param name="call">The call.</param>
    /// <param name="next">As that of <see cref="CallAsync"/>. The call begins with the enumeration of the result.</param>
    IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
        ClientCall<TRequest> call, Func<ClientCall<TRequest>, IAsyncEnumerable<TReply>> next) => next(call);
}
