namespace FastPort.Protocol;

/// <summary>
/// Code around the methods of services, such as authorization, logging, metrics, or errors made from exceptions. To refuse a call, throw
/// <see cref="RequestRefusedException"/>. Several calls may run at the same time.
/// </summary>
/// <remarks>Both methods have to be written: one that guards calls and forgets streams would leave those open.</remarks>
public interface IServerInterceptor
{
    /// <summary>Runs around a method with one reply.</summary>
    /// <remarks>
    /// Around a method with the option <c>RUN_INLINE</c> it runs on the session's loop and must not block. If it waits, the session is not
    /// read until the call has ended: so it must not wait for the session's peer.
    /// </remarks>
    /// <typeparam name="TRequest">
    /// The request's message, or <see cref="IAsyncEnumerable{T}"/> of it if the requests are a stream.
    /// </typeparam>
    /// <typeparam name="TReply">The reply's message.</typeparam>
    /// <param name="call">The call.</param>
    /// <param name="next">Runs the method, through the interceptors behind this one. Call it at most once.</param>
    ValueTask<TReply> CallAsync<TRequest, TReply>(ServerCall<TRequest> call, Func<ServerCall<TRequest>, ValueTask<TReply>> next);

    /// <summary>Runs around a method whose replies are a stream.</summary>
    /// <typeparam name="TRequest">
    /// The request's message, or <see cref="IAsyncEnumerable{T}"/> of it if the requests are a stream.
    /// </typeparam>
    /// <typeparam name="TReply">A reply's message.</typeparam>
    /// <param name="call">The call.</param>
    /// <param name="next">Runs the method as the result is enumerated. Call it at most once.</param>
    IAsyncEnumerable<TReply> StreamAsync<TRequest, TReply>(
        ServerCall<TRequest> call, Func<ServerCall<TRequest>, IAsyncEnumerable<TReply>> next);
}
