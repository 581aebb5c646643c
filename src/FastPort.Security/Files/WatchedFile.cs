using FastPort.Logging;
using Microsoft.Extensions.Logging;

namespace FastPort.Security.Files;

/// <summary>
/// A value that is read from a file and reloaded when the file has changed. If the file cannot be read, or is wrong, the previous value is
/// kept and the problem is logged. The file is checked at intervals, by content: that works with symbolic links that are swapped and with
/// network file systems, where notifications do not. Thread-safe; one read at a time.
/// </summary>
/// <typeparam name="T">What is read.</typeparam>
internal sealed class WatchedFile<T> : IDisposable
    where T : class
{
    private readonly string _path;
    private readonly string _what;
    private readonly int _maxBytes;
    private readonly Func<byte[], ICollection<string>, T?> _read;
    private readonly ILogger _logger;
    private readonly ITimer _timer;

    // Guards _bytes and the order of reads; the subscribers of Changed are called under it, so that they see the changes in order.
    private readonly Lock _gate = new();
    private byte[] _bytes;
    private string? _lastProblem;
    private volatile T _current;

    /// <summary>Reads the file.</summary>
    /// <param name="path">The file.</param>
    /// <param name="what">What it is, for messages: "policy".</param>
    /// <param name="maxBytes">Size above which it is not read.</param>
    /// <param name="read">Parses the bytes, or returns null and reports the problems, one sentence each.</param>
    /// <param name="interval">How often the file is checked.</param>
    /// <param name="time">Source of time.</param>
    /// <param name="logger">For later events.</param>
    /// <exception cref="SecurityFileException">The file cannot be read or is wrong.</exception>
    public WatchedFile(
        string path,
        string what,
        int maxBytes,
        Func<byte[], ICollection<string>, T?> read,
        TimeSpan interval,
        TimeProvider time,
        ILogger logger)
    {
        (_path, _what, _maxBytes, _read, _logger) = (path, what, maxBytes, read, SafeLogger.Of(logger));
        _bytes = ReadBytes();
        List<string> problems = [];
        _current = read(_bytes, problems) ?? throw new SecurityFileException(what, path, problems);
        _timer = NoContext.CreateTimer(time, static file => ((WatchedFile<T>)file!).LookIfFree(), this, interval, interval);
    }

    /// <summary>Where the file is.</summary>
    public string Path => _path;

    /// <summary>What was read last without an error.</summary>
    public T Current => _current;

    /// <summary>Called with the new value when the file has changed, one call at a time. Must not block.</summary>
    public event Action<T>? Changed;

    /// <summary>Calls with the last value, then as <see cref="Changed"/>: no change in between is missed.</summary>
    public void Follow(Action<T> subscriber)
    {
        lock (_gate)
        {
            subscriber(_current);
            Changed += subscriber;
        }
    }

    /// <summary>
    /// Checks the file now, after a check in progress. The subscribers of <see cref="Changed"/> have then been notified of the file's
    /// content. Never throws.
    /// </summary>
    /// <returns>False if the file cannot be read or is wrong, or a subscriber has thrown.</returns>
    public bool Look()
    {
        lock (_gate)
        {
            return LookAlone();
        }
    }

    private void LookIfFree()
    {
        // The previous check is not done: a file system that does not answer must not accumulate threads.
        if (!_gate.TryEnter())
        {
            return;
        }

        try
        {
            LookAlone();
        }
        finally
        {
            _gate.Exit();
        }
    }

    private bool LookAlone()
    {
        try
        {
            byte[] bytes = ReadBytes();
            if (bytes.AsSpan().SequenceEqual(_bytes))
            {
                _lastProblem = null;
                return true;
            }

            List<string> problems = [];
            if (_read(bytes, problems) is not { } current)
            {
                throw new SecurityFileException(_what, _path, problems);
            }

            (_bytes, _current, _lastProblem) = (bytes, current, null);
        }
        catch (Exception e)
        {
            // Once for each problem, not at every look.
            if (_lastProblem != e.Message)
            {
                _lastProblem = e.Message;
                FileLog.ReloadFailed(_logger, _what, e.Message);
            }

            return false;
        }

        FileLog.Reloaded(_logger, _what, _path);
        IReadOnlyList<Exception> failures = Subscribers.Call(Changed, _current, static (subscriber, current) => subscriber(current));
        foreach (Exception failure in failures)
        {
            FileLog.SubscriberFailed(_logger, _what, failure);
        }

        return failures.Count == 0;
    }

    public void Dispose() => _timer.Dispose();

    private byte[] ReadBytes() => FileBytes.Read(_path, _what, _maxBytes);
}
