namespace FastPort.Protocol;

/// <summary>A call of a generated client, for <see cref="IClientInterceptor"/>. A changed copy is made by <c>with</c>.</summary>
/// <typeparam name="TRequest">The request's message, or <see cref="IAsyncEnumerable{T}"/> of it if the requests are a stream.</typeparam>
public readonly struct ClientCall<TRequest>
{
    internal ClientCall(string method, ushort type, TRequest request, TimeSpan? timeout, TimeSpan? wholeTimeout, CancellationToken canceled)
    {
        Method = method;
        Type = type;
        Request = request;
        Timeout = timeout;
        WholeTimeout = wholeTimeout;
        CancellationToken = canceled;
    }

    /// <summary>The method's name in the <c>.proto</c> file, such as <c>game.Move/Walk</c>.</summary>
    public string Method { get; }

    /// <summary>The method's message type.</summary>
    public ushort Type { get; }

    /// <summary>The request, or the stream of requests.</summary>
    public TRequest Request { get; init; }

    /// <summary>Time to the first reply; zero for no limit, null for the peer's default.</summary>
    public TimeSpan? Timeout { get; init; }

    /// <summary>Time for the whole call if its replies are a stream; zero or null for no limit.</summary>
    public TimeSpan? WholeTimeout { get; init; }

    /// <summary>Cancels the call.</summary>
    public CancellationToken CancellationToken { get; init; }
}
