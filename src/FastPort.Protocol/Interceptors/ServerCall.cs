namespace FastPort.Protocol;

/// <summary>A call of a service's method, for <see cref="IServerInterceptor"/>. A changed copy is made by <c>with</c>.</summary>
/// <typeparam name="TRequest">The request's message, or <see cref="IAsyncEnumerable{T}"/> of it if the requests are a stream.</typeparam>
public readonly struct ServerCall<TRequest>
{
    private readonly CancellationToken _canceled;

    internal ServerCall(string method, ushort type, TRequest request, Session session)
    {
        Method = method;
        Type = type;
        Request = request;
        Session = session;
    }

    internal ServerCall(string method, ushort type, TRequest request, RequestContext context)
        : this(method, type, request, context.Session) => Context = context;

    internal ServerCall(string method, ushort type, TRequest request, StreamContext stream, CancellationToken canceled)
        : this(method, type, request, stream.Session)
    {
        Stream = stream;
        _canceled = canceled;
    }

    /// <summary>The method's name in the <c>.proto</c> file, such as <c>game.Move/Walk</c>.</summary>
    public string Method { get; }

    /// <summary>The method's message type.</summary>
    public ushort Type { get; }

    /// <summary>The request, or the stream of requests.</summary>
    public TRequest Request { get; init; }

    /// <summary>The session the call came from.</summary>
    public Session Session { get; }

    /// <summary>The time that the caller still waits; null if it has set no limit, and for a method with <c>RUN_INLINE</c>.</summary>
    public TimeSpan? TimeLeft => Context is not null ? Context.TimeLeft : Stream?.TimeLeft;

    /// <summary>
    /// Canceled when the caller cancels the call or the session ends. Never canceled for a method with <c>RUN_INLINE</c>.
    /// </summary>
    public CancellationToken CancellationToken => Context is not null ? Context.Aborted : _canceled;

    internal RequestContext? Context { get; }

    internal StreamContext? Stream { get; }
}
