
namespace FastPort.Telemetry.Metering;

/// <summary>
/// One latency of the last minute, by message type or operation. Nothing runs in between: a reading keeps the lifetime's snapshot if
/// <see cref="Step"/> has passed since the last one it kept, and the last minute is everything since the youngest snapshot that is at least
/// a minute old. So the window is 60 to 75 s however many collectors there are and however often they read, unless all of them pause: the
/// first reading after a pause covers it. The very first reading covers the time since measuring began if that is at most a minute, and
/// otherwise nothing. Thread-safe.
/// </summary>
internal sealed class LatencyWindows(TimeProvider time)
{
    /// <summary>Shortest window.</summary>
    public static readonly TimeSpan Length = TimeSpan.FromSeconds(60);

    /// <summary>How often a snapshot is kept: five of them, of 12 bytes a filled bucket.</summary>
    public static readonly TimeSpan Step = TimeSpan.FromSeconds(15);

    // Guards the windows.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Window> _windows = new(StringComparer.Ordinal);
    private bool _hasRead;

    /// <summary>The values of the last minute, of each scope.</summary>
    /// <param name="scopes">The current figures.</param>
    /// <param name="metric">Which of their latencies.</param>
    public IReadOnlyList<(string Name, LatencySnapshot Recent)> Read(IReadOnlyList<LatencyScopeReport> scopes, int metric)
    {
        lock (_gate)
        {
            long now = time.GetTimestamp();
            var all = new (string, LatencySnapshot)[scopes.Count];
            for (var i = 0; i < all.Length; i++)
            {
                LatencyScopeReport scope = scopes[i];
                if (!_windows.TryGetValue(scope.Name, out Window? window))
                {
                    // All values of a scope that did not exist at the previous reading are new.
                    _windows[scope.Name] = window = new Window(
                        _hasRead || scope.Lifetime <= Length ? LatencySnapshot.Empty : scope.Metrics[metric].Lifetime);
                }

                all[i] = (scope.Name, window.Read(time, now, scope.Metrics[metric].Lifetime));
            }

            _hasRead = true;
            return all;
        }
    }

    private sealed class Window(LatencySnapshot before)
    {
        private readonly Queue<(long At, LatencySnapshot Lifetime)> _kept = new();
        private LatencySnapshot _before = before;
        private long _last;

        public LatencySnapshot Read(TimeProvider time, long now, LatencySnapshot lifetime)
        {
            while (_kept.TryPeek(out (long At, LatencySnapshot Lifetime) oldest) && time.GetElapsedTime(oldest.At, now) >= Length)
            {
                _before = _kept.Dequeue().Lifetime;
            }

            LatencySnapshot recent = lifetime.Since(_before);
            if (_kept.Count == 0 || time.GetElapsedTime(_last, now) >= Step)
            {
                _kept.Enqueue((now, lifetime));
                _last = now;
            }

            return recent;
        }
    }
}
