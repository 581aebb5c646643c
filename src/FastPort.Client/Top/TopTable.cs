using System.Globalization;
using FastPort.Client.Reports;
using Spectre.Console;

namespace FastPort.Client.Top;

/// <summary>The message types as a table. If the table does not fit, figures are left out first, then the ends of names.</summary>
internal static class TopTable
{
    private const int Gap = 2;
    private const int ShortestName = 8;
    private const string Heading = "decode to send";

    private static readonly (string Heading, Func<TopType, string> Cell)[] Columns =
    [
        ("per s", static type => Number(type.PerSecond)),
        ("P50", static type => Time(type.P50)),
        ("P99", static type => Time(type.P99)),
        ("P99.9", static type => Time(type.P999)),
        ("max", static type => Time(type.Max)),
        ("errors", static type => Number(type.Errors)),
    ];

    // Indices of what is left out where there is little room, in this order.
    private static readonly int[] LeftOut = [3, 1, 4, 5, 2];

    public static Table Of(IReadOnlyList<TopType> types, int width)
    {
        string[][] cells = [.. Columns.Select(column => types.Select(column.Cell).ToArray())];
        int[] widths = [.. cells.Select((column, i) => column.Append(Columns[i].Heading).Max(static cell => cell.Length) + Gap)];
        List<int> shown = [.. Enumerable.Range(0, Columns.Length)];
        string[] names = [.. types.Select(static type => SafeText.Of(type.Name))];
        int longest = names.Append(Heading).Max(static name => name.Length);
        foreach (int column in LeftOut.TakeWhile(_ => Left() < Math.Min(longest, Heading.Length)))
        {
            shown.Remove(column);
        }

        int nameWidth = Math.Clamp(longest, ShortestName, Math.Max(ShortestName, Left()));
        Table table = new Table().NoBorder().AddColumn(
            new TableColumn(TopView.Cut(Heading, nameWidth)).NoWrap().PadLeft(0).PadRight(0).Width(nameWidth));
        foreach (int column in shown)
        {
            // The gap is part of the width: a table without a border has no padding.
            table.AddColumn(new TableColumn(Columns[column].Heading).NoWrap().RightAligned().PadLeft(0).PadRight(0).Width(widths[column]));
        }

        for (int row = 0; row < types.Count; row++)
        {
            table.AddRow([
                new Text(TopView.Cut(names[row], nameWidth)),
                .. shown.Select(column => new Text(cells[column][row], Columns[column].Heading == "errors" && types[row].Errors > 0
                    ? new Style(Color.Red) : Style.Plain)),
            ]);
        }

        return table;

        int Left() => width - shown.Sum(column => widths[column]);
    }

    private static string Number(double value) => value.ToString("#,##0", CultureInfo.InvariantCulture);

    private static string Time(ulong? nanoseconds) => nanoseconds switch
    {
        null => "-",
        < 1_000_000 => string.Create(CultureInfo.InvariantCulture, $"{nanoseconds / 1e3:0.0} us"),
        < 1_000_000_000 => string.Create(CultureInfo.InvariantCulture, $"{nanoseconds / 1e6:0.0} ms"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{nanoseconds / 1e9:0.0} s"),
    };
}
