using System.Collections.Concurrent;
using System.Threading.Channels;
using Microsoft.Extensions.Logging;

namespace FastPort.Core.Tests.Telemetry;

/// <summary>Keeps what was logged, and lets a test wait for it.</summary>
internal sealed class RecordingLogger<T> : ILogger<T>
{
    private readonly Channel<int> _ids = Channel.CreateUnbounded<int>();

    public ConcurrentQueue<(LogLevel Level, int Id, string Message)> Entries { get; } = new();

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        Entries.Enqueue((logLevel, eventId.Id, formatter(state, exception)));
        _ids.Writer.TryWrite(eventId.Id);
    }

    /// <summary>Waits for the next message with this id; those before it are passed over.</summary>
    public async Task WaitForAsync(int id)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        while (await _ids.Reader.ReadAsync(limit.Token) != id)
        {
        }
    }

    public int Count(int id) => Entries.Count(entry => entry.Id == id);
}
