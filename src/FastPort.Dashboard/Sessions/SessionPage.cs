namespace FastPort.Dashboard.Sessions;

/// <summary>A part of the sessions.</summary>
/// <param name="Total">All sessions of the snapshot.</param>
/// <param name="Matching">Those that match the filter.</param>
/// <param name="Page">The page number, from 0; the last page if the requested one is gone.</param>
/// <param name="Pages">Number of pages, at least 1.</param>
/// <param name="Rows">At most 100 rows.</param>
internal sealed record SessionPage(int Total, int Matching, int Page, int Pages, IReadOnlyList<SessionRow> Rows)
{
    /// <summary>Rows of a page.</summary>
    public const int Size = 100;
}
