using System.Globalization;
using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>
/// docs/log-events.md, and docs/latency-reports.md for its own, list the log events of the code: every id, and no other, with its level. A
/// row may list several ids and levels (<c>7100, 7101</c> and <c>7104-7106</c>).
/// </summary>
public sealed partial class LogEventTests
{
    [Fact]
    public void The_documents_list_every_event_with_its_level()
    {
        Dictionary<int, string> listed = Listed();
        foreach ((int id, string? level, string place) in Declared())
        {
            Assert.True(listed.TryGetValue(id, out string? levels), $"{id} of {place} is missing in docs/log-events.md");
            Assert.True(level is null || levels.Contains(level, StringComparison.Ordinal), $"{id} is {level}, and listed as '{levels}'");
        }
    }

    [Fact]
    public void The_documents_list_no_event_that_the_code_does_not_have() =>
        Assert.Empty(Listed().Keys.Except(Declared().Select(static one => one.Id)));

    private static List<(int Id, string? Level, string Place)> Declared()
    {
        List<(int Id, string? Level, string Place)> declared = [];
        foreach (string file in Directory.EnumerateFiles(Path.Combine(Repository.Root, "src"), "*.cs", SearchOption.AllDirectories))
        {
            foreach (Match one in Declaration().Matches(File.ReadAllText(file)))
            {
                // Without a level the caller passes it.
                declared.Add((Number(one.Groups[1].Value), one.Groups[2].Success ? one.Groups[2].Value : null, Path.GetFileName(file)));
            }
        }

        return declared;
    }

    private static Dictionary<int, string> Listed()
    {
        var listed = new Dictionary<int, string>();
        string docs = Path.Combine(Repository.Root, "docs");
        string text = File.ReadAllText(Path.Combine(docs, "log-events.md")) + File.ReadAllText(Path.Combine(docs, "latency-reports.md"));
        foreach (Match row in Row().Matches(text))
        {
            foreach (Match ids in Ids().Matches(row.Groups[1].Value))
            {
                int first = Number(ids.Groups[1].Value);
                int last = ids.Groups[2].Success ? Number(ids.Groups[2].Value) : first;
                for (int id = first; id <= last; id++)
                {
                    listed[id] = listed.GetValueOrDefault(id) + row.Groups[2].Value;
                }
            }
        }

        return listed;
    }

    private static int Number(string digits) => int.Parse(digits, CultureInfo.InvariantCulture);

    [GeneratedRegex(@"\[LoggerMessage\(\s*(?:EventId = )?(\d+),\s*(?:LogLevel\.(\w+))?")]
    private static partial Regex Declaration();

    // The tables of events have three columns; those of ranges of ids have a part and a category.
    [GeneratedRegex(@"^\| ([\d, -]+) \| ((?:Trace|Debug|Information|Warning|Error|Critical)[^|]*) \|", RegexOptions.Multiline)]
    private static partial Regex Row();

    [GeneratedRegex(@"(\d{4})(?:-(\d{4}))?")]
    private static partial Regex Ids();
}
