namespace FastPort.Dashboard.Sessions;

/// <summary>The orders of the session table, by the names of its columns.</summary>
internal static class SessionSort
{
    public const string Default = "id";

    private static readonly Dictionary<string, Comparison<SessionRow>> Orders = new(StringComparer.Ordinal)
    {
        [Default] = static (a, b) => a.Id.CompareTo(b.Id),
        ["routingId"] = static (a, b) => string.CompareOrdinal(a.RoutingId, b.RoutingId),
        ["name"] = static (a, b) => string.CompareOrdinal(a.Name, b.Name),
        ["address"] = static (a, b) => string.CompareOrdinal(a.Address, b.Address),
        ["opened"] = static (a, b) => a.Opened.CompareTo(b.Opened),
        ["messagesIn"] = static (a, b) => a.MessagesIn.CompareTo(b.MessagesIn),
        ["messagesOut"] = static (a, b) => a.MessagesOut.CompareTo(b.MessagesOut),
        ["rate"] = static (a, b) => a.Rate.CompareTo(b.Rate),
        ["bytesIn"] = static (a, b) => a.BytesIn.CompareTo(b.BytesIn),
        ["bytesOut"] = static (a, b) => a.BytesOut.CompareTo(b.BytesOut),
        ["pendingBytes"] = static (a, b) => a.PendingBytes.CompareTo(b.PendingBytes),
        ["dropped"] = static (a, b) => a.Dropped.CompareTo(b.Dropped),
    };

    public static IEnumerable<string> Names => Orders.Keys;

    public static bool IsKnown(string name) => Orders.ContainsKey(name);

    /// <summary>Sorts in place; equal rows by id, so that pages do not overlap.</summary>
    public static void Sort(SessionRow[] rows, string name, bool isDescending)
    {
        Comparison<SessionRow> order = Orders[name];
        int sign = isDescending ? -1 : 1;
        Array.Sort(rows, (a, b) => order(a, b) is var by && by != 0 ? sign * by : a.Id.CompareTo(b.Id));
    }
}
