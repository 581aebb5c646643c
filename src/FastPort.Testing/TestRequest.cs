namespace FastPort.Testing;

/// <summary>
/// A request for a test of a queued handler: create it, pass its <see cref="Context"/> to the handler, and get the client's answer with
/// <see cref="CompleteAsync"/>. It is a real request of a real session, over a link within the process. One thread at a time may use it.
/// </summary>
public sealed class TestRequest : IAsyncDisposable
{
    private readonly TaskCompletionSource<RequestContext> _called = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _completed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly CancellationTokenSource _canceling = new();
    private TestServer _server = null!;
    private Task<TestReply> _reply = null!;

    private TestRequest()
    {
    }

    /// <summary>The handler's argument. Valid until <see cref="CompleteAsync"/>.</summary>
    public RequestContext Context { get; private set; } = null!;

    /// <summary>Sends a request that waits for a handler.</summary>
    /// <param name="type">Message type, 0x0100 to 0xFFFF.</param>
    /// <param name="body">The body; copied. Defaults to an empty one.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The body is larger than a frame may be.</exception>
    /// <exception cref="InvalidOperationException">The server refused the request.</exception>
    public static async Task<TestRequest> CreateAsync(
        ushort type, ReadOnlyMemory<byte> body = default, CancellationToken cancellationToken = default)
    {
        var request = new TestRequest();
        request._server = await TestServer.StartAsync(
            builder => builder.Map(handlers => handlers.MapQueued(type, request.CallAsync)),
            cancellationToken: cancellationToken).ConfigureAwait(false);
        try
        {
            request._reply = AskAsync(request._server.Client, type, body.ToArray(), request._canceling.Token);
            Task first = await Task.WhenAny(request._called.Task, request._reply).WaitAsync(cancellationToken).ConfigureAwait(false);
            if (first == request._reply)
            {
                TestReply reply = await request._reply.ConfigureAwait(false);
                throw new InvalidOperationException(
                    $"The request of type {type} with {body.Length} bytes did not reach a handler: {reply.Error}: {reply.Message}");
            }

            request.Context = await request._called.Task.ConfigureAwait(false);
            return request;
        }
        catch
        {
            await request.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Calls an inline handler with a request, on the session's loop, and returns the client's answer.</summary>
    /// <param name="type">Message type, 0x0100 to 0xFFFF.</param>
    /// <param name="body">The body.</param>
    /// <param name="handler">The handler. If it throws, the client receives an error, as in production.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    public static async Task<TestReply> RunAsync(
        ushort type, ReadOnlyMemory<byte> body, InlineHandler handler, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handler);
        await using TestServer server = await TestServer.StartAsync(
            builder => builder.Map(handlers => handlers.MapInline(type, handler)),
            cancellationToken: cancellationToken).ConfigureAwait(false);
        return await AskAsync(server.Client, type, body, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Cancels the request as its client would: <see cref="RequestContext.Aborted"/> is canceled when the server has read the cancellation.
    /// <see cref="CompleteAsync"/> then throws <see cref="OperationCanceledException"/>.
    /// </summary>
    public void Cancel() => _canceling.Cancel();

    /// <summary>
    /// Ends the handler's work and returns the client's answer: the answer given through <see cref="Context"/>, or an empty body without
    /// one.
    /// </summary>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="OperationCanceledException">The request was canceled.</exception>
    public Task<TestReply> CompleteAsync(CancellationToken cancellationToken = default)
    {
        _completed.TrySetResult();
        return _reply.WaitAsync(cancellationToken);
    }

    /// <summary>Completes the request and closes its session.</summary>
    public async ValueTask DisposeAsync()
    {
        _completed.TrySetResult();
        await _server.DisposeAsync().ConfigureAwait(false);
        _canceling.Dispose();
    }

    private static async Task<TestReply> AskAsync(
        FastPortClient client, ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken)
    {
        try
        {
            // By the session: the client would repeat a request that is answered with ShuttingDown.
            byte[] reply = await client.Session!.RequestAsync(type, body, cancellationToken: cancellationToken).ConfigureAwait(false);
            return new TestReply(reply, ErrorCode.None, string.Empty);
        }
        catch (RequestFailedException e) when (e.Failure is null)
        {
            // The exception's message begins with the code.
            return new TestReply(ReadOnlyMemory<byte>.Empty, e.Code, e.Message[$"{e.Code}: ".Length..]);
        }
    }

    private async ValueTask CallAsync(RequestContext context)
    {
        _called.TrySetResult(context);
        await _completed.Task.ConfigureAwait(false);
    }
}
