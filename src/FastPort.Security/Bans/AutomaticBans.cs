using System.Collections.Concurrent;
using System.Net;
using FastPort.Logging;
using FastPort.Security.Files;
using Microsoft.Extensions.Logging;

namespace FastPort.Security.Bans;

/// <summary>
/// Bans addresses whose Hellos and other logins are refused too often within the duration of the ban. A ban of the same address that ends
/// later is kept. Thread-safe. <see cref="_gate"/> guards the table.
/// </summary>
/// <param name="limit">Refusals that ban.</param>
/// <param name="span">The time within which they count, and how long a ban lasts.</param>
/// <param name="bans">Receives the bans.</param>
/// <param name="file">The ban file, whose changes are also applied to the list; null for none.</param>
/// <param name="time">Source of time.</param>
/// <param name="logger">Logs bans that cannot be written.</param>
internal sealed class AutomaticBans(
    int limit, TimeSpan span, BanList bans, WatchedFile<IReadOnlyList<Ban>>? file, TimeProvider time, ILogger logger)
{
    // Old counts are looked for when the table has grown to twice what was left the last time, but not before this number.
    private const int FirstSweep = 1024;

    private readonly ILogger _logger = SafeLogger.Of(logger);
    private readonly Lock _gate = new();
    private readonly Dictionary<string, (long Since, int Refusals)> _refusals = [];
    private readonly ConcurrentQueue<Ban> _due = new();
    private int _sweepAt = FirstSweep;
    private int _isAdding;

    /// <summary>A Hello or another login from this address was refused.</summary>
    public void Refused(EndPoint? peer)
    {
        if (Ban.SubjectOf(peer) is not { } subject)
        {
            return;
        }

        long now = time.GetTimestamp();
        lock (_gate)
        {
            Sweep(now);
            (long Since, int Refusals) counted = _refusals.GetValueOrDefault(subject, (now, 0));
            counted = IsOld(counted.Since, now) ? (now, 1) : (counted.Since, counted.Refusals + 1);
            if (counted.Refusals < limit)
            {
                _refusals[subject] = counted;
                return;
            }

            _refusals.Remove(subject);
        }

        // Not here, which may be a loop: the file is written. One thread at a time, no matter how many are banned at once.
        _due.Enqueue(new Ban(subject, time.GetUtcNow() + span, $"{limit} logins were refused"));
        if (Interlocked.Exchange(ref _isAdding, 1) == 0)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static state => ((AutomaticBans)state!).AddDue(), this);
        }
    }

    private void AddDue()
    {
        do
        {
            List<Ban> due = [];
            while (_due.TryDequeue(out Ban? ban))
            {
                due.Add(ban);
            }

            Add(due);
            Interlocked.Exchange(ref _isAdding, 0);
        }
        while (!_due.IsEmpty && Interlocked.Exchange(ref _isAdding, 1) == 0);
    }

    private void Add(List<Ban> due)
    {
        try
        {
            // Through the file: a ban lifted there is lifted here.
            if (file is null || !TryWrite(file.Path, due) || !file.Look())
            {
                // Not Add, which would shorten a longer ban of the same address.
                bans.Replace([], due);
            }
        }
        catch (Exception e)
        {
            // This is a pool thread: an exception of the list's subscriber would end the process.
            BanLog.SubscriberFailed(_logger, due.Count, e);
        }
    }

    private bool TryWrite(string path, List<Ban> due)
    {
        try
        {
            BanFiles.AddLonger(path, due);
            return true;
        }
        catch (Exception e)
        {
            BanLog.NotWritten(_logger, due.Count, path, e.Message);
            return false;
        }
    }

    private bool IsOld(long since, long now) => time.GetElapsedTime(since, now) >= span;

    private void Sweep(long now)
    {
        if (_refusals.Count < _sweepAt)
        {
            return;
        }

        foreach ((string subject, (long since, _)) in _refusals)
        {
            if (IsOld(since, now))
            {
                // Dictionaries of .NET allow this while they are enumerated.
                _refusals.Remove(subject);
            }
        }

        _sweepAt = Math.Max(FirstSweep, 2 * _refusals.Count);
    }
}
