using System.CommandLine;
using FastPort.Programs;

namespace FastPort.Client.Commands;

/// <summary>Arguments of <c>compare</c>.</summary>
/// <param name="Before">Path of the result before.</param>
/// <param name="After">Path of the result after.</param>
/// <param name="Markdown">
/// Output of the table as Markdown: a path, "-" for standard output instead of the text table, null for none.
/// </param>
/// <param name="Html">Path of the comparison as a page; null for none.</param>
internal sealed record CompareSettings(string Before, string After, string? Markdown, string? Html);

/// <summary>The command <c>compare</c>.</summary>
internal static class CompareCommand
{
    /// <summary>Creates the command.</summary>
    /// <param name="run">Compares and returns the exit code.</param>
    public static Command Create(Func<CompareSettings, Task<int>> run)
    {
        var before = new Argument<string>("before") { Description = "JSON result of the earlier run (load --json)." };
        var after = new Argument<string>("after") { Description = "JSON result of the later run." };
        var markdown = new Option<string?>("--markdown")
        {
            Description = "Writes the table as Markdown to this file; - prints Markdown instead of the text table.",
            HelpName = "FILE",
        };
        var html = new Option<string?>("--html")
        {
            Description = "Writes the comparison to this file as an HTML page with charts that works offline.",
            HelpName = "FILE",
        };
        var command = new ExampleCommand(
            "compare", "Compares the results of two load runs.", "compare before.json after.json --html diff.html")
        {
            before, after, markdown, html,
        };
        command.SetAction(
            (result, _) =>
                run(new CompareSettings(
                    result.GetRequiredValue(before), result.GetRequiredValue(after), result.GetValue(markdown), result.GetValue(html))));
        return command;
    }
}
