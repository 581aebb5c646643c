using System.Globalization;
using Microsoft.AspNetCore.Http;

namespace FastPort.Dashboard.Sessions;

/// <summary>Which part of the sessions a page shows.</summary>
internal sealed record SessionQuery(string Sort, bool IsDescending, string Filter, int Page)
{
    public const int MaxFilterCharacters = 100;

    private const int MaxPage = 100_000;

    private static readonly string[] Keys = ["sort", "desc", "filter", "page"];

    /// <summary>Reads a query string. Returns its problem; null if it is valid.</summary>
    public static string? TryRead(IQueryCollection query, out SessionQuery read)
    {
        read = new SessionQuery(SessionSort.Default, false, string.Empty, 0);
        foreach ((string key, Microsoft.Extensions.Primitives.StringValues values) in query)
        {
            if (!Keys.Contains(key, StringComparer.Ordinal))
            {
                return $"'{Cut(key)}' is not a parameter; known parameters: {string.Join(", ", Keys)}.";
            }

            if (values.Count != 1)
            {
                return $"{key} is given {values.Count} times; give it once.";
            }
        }

        string sort = Value("sort", read.Sort);
        string isDescending = Value("desc", "false");
        string filter = Value("filter", string.Empty);
        string page = Value("page", "0");
        if (!SessionSort.IsKnown(sort))
        {
            return $"sort is '{Cut(sort)}'; known values: {string.Join(", ", SessionSort.Names)}.";
        }

        if (isDescending is not ("true" or "false"))
        {
            return $"desc is '{Cut(isDescending)}'; give true or false.";
        }

        if (filter.Length > MaxFilterCharacters)
        {
            return $"filter has {filter.Length} characters; give at most {MaxFilterCharacters}.";
        }

        if (!int.TryParse(page, NumberStyles.None, CultureInfo.InvariantCulture, out int number) || number > MaxPage)
        {
            return $"page is '{Cut(page)}'; give 0 to {MaxPage}.";
        }

        read = new SessionQuery(sort, isDescending == "true", filter, number);
        return null;

        string Value(string key, string other) => query.TryGetValue(key, out var values) ? values[0] ?? string.Empty : other;
    }

    private static string Cut(string text) => Live.ShownText.Of(text, 40);
}
