using System.Globalization;
using FastPort.Client.Reports;
using FastPort.Tags;
using Spectre.Console;

namespace FastPort.Client.Tags;

/// <summary>Tags as tables for people.</summary>
internal static class TagTable
{
    // Of a line, where names leave room for that.
    private const int Width = 200;
    private const int ShortestValue = 40;

    public static void Write(TextWriter output, IEnumerable<(string Name, TagSample Sample)> samples)
    {
        const int Value = 1;
        string[] columns = ["name", "value", "type", "status", "source time"];
        string[][] rows =
        [
            .. samples.Select(static one => new[]
            {
                SafeText.Name(one.Name),
                SafeText.Of($"{one.Sample.Value}"),
                one.Sample.Value.IsNull ? string.Empty : $"{one.Sample.Value.Type}{(one.Sample.Value.IsArray ? "[]" : string.Empty)}",
                $"{one.Sample.Status}",
                Time(one.Sample.SourceTime),
            }),
        ];

        // The other columns are whole: names can be typed again. Values get the rest of the line.
        int others = columns.Where(static (_, i) => i != Value).Index()
            .Sum(one => rows.Select(row => row[one.Index < Value ? one.Index : one.Index + 1].Length).Append(one.Item.Length).Max());
        int room = Math.Max(ShortestValue, Width - others - (3 * columns.Length) - 1);
        foreach (string[] row in rows)
        {
            row[Value] = row[Value].Length <= room ? row[Value] : string.Concat(row[Value].AsSpan(0, room - 3), "...");
        }

        Write(output, columns, rows);
    }

    public static void Write(TextWriter output, IEnumerable<TagBrowseNode> nodes)
    {
        Write(output, ["name", "kind"], nodes.Select(static node => new[]
        {
            SafeText.Name(node.Name),
            $"{node.Kind}{(node is { Kind: TagBrowseKind.Tag, HasChildren: true } ? " ..." : string.Empty)}".ToLowerInvariant(),
        }));
    }

    /// <summary>A change as a line.</summary>
    public static string Line(string name, in TagSample sample) =>
        $"{Time(sample.SourceTime == default ? DateTime.UtcNow : sample.SourceTime)}  {SafeText.Name(name)}  {SafeText.Of($"{sample}")}";

    // With the date, unless it is today.
    private static string Time(DateTime time)
    {
        DateTime local = time.ToLocalTime();
        string format = local.Date == DateTime.Today ? "HH:mm:ss.fff" : "yyyy-MM-dd HH:mm:ss.fff";
        return time == default ? string.Empty : local.ToString(format, CultureInfo.InvariantCulture);
    }

    // A row has no markup: names and values come from elsewhere.
    private static void Write(TextWriter output, string[] columns, IEnumerable<string[]> rows)
    {
        Table table = new Table().Border(TableBorder.Rounded);
        Array.ForEach(columns, column => table.AddColumn(new TableColumn(column).NoWrap()));
        foreach (string[] row in rows)
        {
            table.AddRow(row.Select(static cell => new Text(cell)));
        }

        // The table is as wide as its rows. In a narrower console it would lose columns.
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(output), Ansi = AnsiSupport.No });
        console.Profile.Width = short.MaxValue;
        console.Write(table);
    }
}
