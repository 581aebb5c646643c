using System.Globalization;
using FastPort.Client.Reports;
using FastPort.Protocol.Tags;
using Spectre.Console;

namespace FastPort.Client.Tags;

/// <summary>Tags as tables for people.</summary>
internal static class TagTable
{
    public static void Write(TextWriter output, IEnumerable<(string Name, TagSample Sample)> samples)
    {
        Table table = Create("name", "value", "type", "status", "source time");
        foreach ((string name, TagSample sample) in samples)
        {
            Add(
                table,
                name,
                $"{sample.Value}",
                sample.Value.IsNull ? string.Empty : $"{sample.Value.Type}{(sample.Value.IsArray ? "[]" : string.Empty)}",
                $"{sample.Status}",
                Time(sample.SourceTime));
        }

        Write(output, table);
    }

    public static void Write(TextWriter output, IEnumerable<TagBrowseNode> nodes)
    {
        Table table = Create("name", "kind");
        foreach (TagBrowseNode node in nodes)
        {
            bool hasMore = node is { Kind: TagBrowseKind.Tag, HasChildren: true };
            Add(table, hasMore ? $"{node.Name} ..." : node.Name, $"{node.Kind}".ToLowerInvariant());
        }

        Write(output, table);
    }

    /// <summary>A change as a line.</summary>
    public static string Line(string name, in TagSample sample) =>
        $"{Time(sample.SourceTime == default ? DateTime.UtcNow : sample.SourceTime)}  {SafeText.Of(name)}  {SafeText.Of($"{sample}")}";

    private static string Time(DateTime time) =>
        time == default ? string.Empty : time.ToLocalTime().ToString("HH:mm:ss.fff", CultureInfo.InvariantCulture);

    private static Table Create(params string[] columns)
    {
        Table table = new Table().Border(TableBorder.Rounded);
        Array.ForEach(columns, column => table.AddColumn(new TableColumn(column).NoWrap()));
        return table;
    }

    // A row has no markup: names and values are somebody else's text.
    private static void Add(Table table, params string[] cells) =>
        table.AddRow(cells.Select(static cell => new Text(SafeText.Of(cell))));

    private static void Write(TextWriter output, Table table)
    {
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(output), Ansi = AnsiSupport.No });
        console.Profile.Width = 200;
        console.Write(table);
    }
}
