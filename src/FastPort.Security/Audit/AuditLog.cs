using System.Collections.Concurrent;
using System.Globalization;
using System.Text.Json;
using System.Threading.Channels;
using FastPort.Logging;
using FastPort.Security.Files;
using Microsoft.Extensions.Logging;

namespace FastPort.Security.Audit;

/// <summary>
/// Appends audit events to a file, one JSON object per line. Any thread adds; one task writes. The file is opened for each batch, so that
/// it may be renamed at any time. Events that cannot be written, or not fast enough, are dropped, and a later line contains their number.
/// Several logs may write to one file: those of a process in turn, and on Linux those of other processes too.
/// </summary>
internal sealed class AuditLog : IAsyncDisposable
{
    private const int Capacity = 16 * 1024;

    // The share for events about messages: connections, disconnections and bans must not be lost among refusals.
    private const int CapacityForMessages = Capacity / 2;

    // By full path: one batch at a time, because .NET writes where the end of the file was when it opened it. Never removed: they are few.
    private static readonly ConcurrentDictionary<string, SemaphoreSlim> WriteLocks = new();

    private static readonly JsonEncodedText Time = JsonEncodedText.Encode("time");
    private static readonly JsonEncodedText Event = JsonEncodedText.Encode("event");

    private readonly string _path;
    private readonly SemaphoreSlim _writeLock;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Channel<(DateTimeOffset Time, AuditEvent Event)> _events =
        Channel.CreateBounded<(DateTimeOffset, AuditEvent)>(new BoundedChannelOptions(Capacity) { SingleReader = true });

    private readonly Task _writing;
    private long _dropped;
    private bool _failing;

    /// <summary>Opens the log.</summary>
    /// <param name="path">The file. It is created if it does not exist.</param>
    /// <param name="time">Source of the times.</param>
    /// <param name="logger">For a disk that fails.</param>
    /// <exception cref="IOException">The file cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The file may not be written.</exception>
    public AuditLog(string path, TimeProvider time, ILogger logger)
    {
        (_path, _time, _logger) = (path, time, SafeLogger.Of(logger));
        _writeLock = WriteLocks.GetOrAdd(Path.GetFullPath(path), static _ => new SemaphoreSlim(1));
        Open(path).Dispose();
        _writing = NoContext.Start(() => Task.Run(WriteAllAsync));
    }

    /// <summary>Adds an event. Never blocks.</summary>
    public void Add(AuditEvent entry)
    {
        if ((entry.IsOfMessage && _events.Reader.Count >= CapacityForMessages)
            || !_events.Writer.TryWrite((_time.GetUtcNow(), entry)))
        {
            Interlocked.Increment(ref _dropped);
        }
    }

    /// <summary>Writes what was added before and ends.</summary>
    public async ValueTask DisposeAsync()
    {
        _events.Writer.TryComplete();
        await _writing.ConfigureAwait(false);
    }

    /// <summary>Writes an event as one line.</summary>
    internal static void Write(Stream stream, DateTimeOffset time, AuditEvent entry)
    {
        using (Utf8JsonWriter json = new(stream))
        {
            json.WriteStartObject();
            json.WriteString(Time, time.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture));
            json.WriteString(Event, entry.Name);
            if (entry.Session != 0)
            {
                json.WriteNumber("session"u8, entry.Session);
            }

            WriteIfAny(json, "remote"u8, entry.Remote);
            WriteIfAny(json, "user"u8, entry.User);
            foreach ((string key, string value) in entry.Details)
            {
                json.WriteString(key, value);
            }

            json.WriteEndObject();
        }

        stream.WriteByte((byte)'\n');
    }

    /// <summary>Opens a file to append to it.</summary>
    internal static FileStream Open(string path)
    {
        FileStreamOptions options = new()
        {
            Mode = FileMode.OpenOrCreate,
            Access = FileAccess.ReadWrite,
            Share = FileShare.ReadWrite | FileShare.Delete,
            BufferSize = 0,
        };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead;
        }

        FileStream file = new(path, options);
        try
        {
            Libc.Append(file.SafeFileHandle);
        }
        catch
        {
            file.Dispose();
            throw;
        }

        return file;
    }

    private static void WriteIfAny(Utf8JsonWriter json, ReadOnlySpan<byte> key, string? value)
    {
        if (value is not null)
        {
            json.WriteString(key, value);
        }
    }

    private async Task WriteAllAsync()
    {
        using MemoryStream batch = new();
        while (await _events.Reader.WaitToReadAsync().ConfigureAwait(false))
        {
            // The end of a line that a full disk or the end of a process has cut, if there is one: written with the batch.
            batch.SetLength(0);
            batch.WriteByte((byte)'\n');
            int count = 0;
            while (batch.Length < 256 * 1024 && _events.Reader.TryRead(out (DateTimeOffset Time, AuditEvent Event) entry))
            {
                Write(batch, entry.Time, entry.Event);
                count++;
            }

            long dropped = Interlocked.Exchange(ref _dropped, 0);
            if (dropped != 0)
            {
                string number = dropped.ToString(CultureInfo.InvariantCulture);
                Write(batch, _time.GetUtcNow(), new AuditEvent("audit.dropped", Details: ("count", number)));
            }

            if (!await TrySaveAsync(batch).ConfigureAwait(false))
            {
                Interlocked.Add(ref _dropped, dropped + count);
            }
        }
    }

    // A disk that fails costs the batch, and an error in the log when it begins to fail.
    private async Task<bool> TrySaveAsync(MemoryStream batch)
    {
        await _writeLock.WaitAsync().ConfigureAwait(false);
        try
        {
            FileStream file = Open(_path);
            await using (file.ConfigureAwait(false))
            {
                // In one write: another process's lines come before or after them.
                int from = IsCut(file) ? 0 : 1;
                await file.WriteAsync(batch.GetBuffer().AsMemory(from, (int)batch.Length - from)).ConfigureAwait(false);
            }

            _failing = false;
            return true;
        }
        catch (Exception e)
        {
            if (!_failing)
            {
                _failing = true;
                AuditLogging.WriteFailed(_logger, _path, e.Message);
            }

            return false;
        }
        finally
        {
            _writeLock.Release();
        }
    }

    // Whether the last line has no end. The stream is at the end of the file afterwards.
    private static bool IsCut(FileStream file)
    {
        if (!file.CanSeek || file.Length == 0)
        {
            return false;
        }

        file.Seek(-1, SeekOrigin.End);
        return file.ReadByte() != '\n';
    }
}

/// <summary>Log messages about the audit log; event ids 9110 to 9119.</summary>
internal static partial class AuditLogging
{
    [LoggerMessage(9110, LogLevel.Error, "The audit log {Path} cannot be written; events are lost until it can. {Message}")]
    public static partial void WriteFailed(ILogger logger, string path, string message);
}
