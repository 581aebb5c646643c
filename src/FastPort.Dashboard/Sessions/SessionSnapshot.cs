using System.Collections.Concurrent;
using System.Globalization;

namespace FastPort.Dashboard.Sessions;

/// <summary>
/// All sessions at one moment. Immutable except for its cache: pages with the same order and filter are sorted once. Thread-safe.
/// </summary>
internal sealed class SessionSnapshot(SessionRow[] rows, long taken)
{
    // Pages ask for few different orders at a time. More are sorted each time.
    private const int MaxRemembered = 16;

    private readonly ConcurrentDictionary<(string, bool, string), SessionRow[]> _sorted = new();

    public IReadOnlyList<SessionRow> Rows => rows;

    /// <summary>Timestamp of the clock.</summary>
    public long Taken => taken;

    public SessionPage Read(SessionQuery query)
    {
        SessionRow[] matching = Sorted(query);
        int pages = Math.Max(1, (matching.Length + SessionPage.Size - 1) / SessionPage.Size);
        int page = Math.Min(query.Page, pages - 1);
        return new SessionPage(
            rows.Length, matching.Length, page, pages, [.. matching.Skip(page * SessionPage.Size).Take(SessionPage.Size)]);
    }

    private SessionRow[] Sorted(SessionQuery query)
    {
        (string, bool, string) key = (query.Sort, query.IsDescending, query.Filter);
        if (_sorted.TryGetValue(key, out SessionRow[]? known))
        {
            return known;
        }

        SessionRow[] matching = [.. rows.Where(row => Matches(row, query.Filter))];
        SessionSort.Sort(matching, query.Sort, query.IsDescending);
        if (_sorted.Count < MaxRemembered)
        {
            _sorted[key] = matching;
        }

        return matching;
    }

    private static bool Matches(SessionRow row, string filter) =>
        filter.Length == 0
        || row.RoutingId.Contains(filter, StringComparison.OrdinalIgnoreCase)
        || row.Name.Contains(filter, StringComparison.OrdinalIgnoreCase)
        || row.Address.Contains(filter, StringComparison.OrdinalIgnoreCase)
        || row.Id.ToString(CultureInfo.InvariantCulture) == filter;
}
