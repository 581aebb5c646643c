using System.Collections.Concurrent;
using FastPort.Protocol;
using Google.Protobuf;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>A server on a free port and a client connected to it, both over real sockets.</summary>
internal sealed class Loopback : IAsyncDisposable
{
    /// <summary>A bound for what must happen soon; only a broken test reaches it.</summary>
    public static readonly TimeSpan Soon = TimeSpan.FromSeconds(30);

    /// <summary>Bytes that no message parses: a tag of field 1, length 100, and nothing behind it.</summary>
    public static readonly byte[] NoMessage = [0x0A, 100];

    private Loopback(FastPortServer server, FastPortClient client, LoopbackLog log)
    {
        Server = server;
        Client = client;
        Log = log;
    }

    public FastPortServer Server { get; }

    public FastPortClient Client { get; }

    public LoopbackLog Log { get; }

    public static async Task<Loopback> StartAsync(
        MessageHandlers handlers,
        MessageHandlers? pushes = null,
        Action<FastPortServerOptions>? configure = null,
        Action<FastPortClientOptions>? configureClient = null)
    {
        var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } };
        configure?.Invoke(options);
        var log = new LoopbackLog();
        var server = new FastPortServer(options, handlers, loggerFactory: log);
        await server.StartAsync();
        FastPortClient client = await ConnectAsync(server, pushes, configureClient);
        return new Loopback(server, client, log);
    }

    public static async Task<FastPortClient> ConnectAsync(
        FastPortServer server, MessageHandlers? pushes = null, Action<FastPortClientOptions>? configure = null)
    {
        var options = new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString(), RequestTimeout = Soon };
        configure?.Invoke(options);
        var client = new FastPortClient(options, pushes);
        await client.ConnectAsync();
        return client;
    }

    /// <summary>The error that a request of these bytes is answered with.</summary>
    public static async Task<RequestFailedException> FailureAsync(FastPortClient client, ushort type, byte[] body) =>
        await Assert.ThrowsAsync<RequestFailedException>(() => client.RequestAsync(type, body));

    public static Echo Message(string text) => new() { Payload = ByteString.CopyFromUtf8(text) };

    /// <summary>A round trip on the same session: what was sent before has been handled, inline.</summary>
    public Task PassAsync() => Client.RequestAsync(ControlTypeOfPing, ReadOnlyMemory<byte>.Empty);

    public async ValueTask DisposeAsync()
    {
        await Client.DisposeAsync();
        await Server.DisposeAsync();
    }

    private const ushort ControlTypeOfPing = 0x0002;
}

/// <summary>Keeps the lines of errors that a server logs.</summary>
internal sealed class LoopbackLog : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<string> _errors = new();

    public IReadOnlyCollection<string> Errors => _errors;

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Error;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (IsEnabled(logLevel))
        {
            _errors.Enqueue(formatter(state, exception));
        }
    }

    public void Dispose()
    {
    }
}
