using System.Globalization;
using FastPort.Client.Reports;
using FastPort.Protocol;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace FastPort.Client.Top;

/// <summary>The figures of a server as they are shown: as wide and as high as the terminal is.</summary>
/// <param name="endpoint">The server.</param>
/// <param name="sort">What message types are sorted by.</param>
internal sealed class TopView(string endpoint, string sort)
{
    // An answer may exceed the range of TimeSpan.
    private const ulong LongestUptimeSeconds = long.MaxValue / TimeSpan.TicksPerSecond;

    // Each loop has its figure up to here.
    private const int MostLoops = 8;

    private static readonly Style Trouble = new(Color.Red, decoration: Decoration.Bold);

    /// <summary>Shows what happened between two looks.</summary>
    /// <param name="figures">What happened.</param>
    /// <param name="width">Columns of the terminal.</param>
    /// <param name="height">Rows of the terminal; what does not fit is left out and counted.</param>
    public IRenderable Of(TopFigures figures, int width, int height = int.MaxValue)
    {
        List<Paragraph> head = Packed(Facts(figures, isShort: false), width);

        // Below it are the headings of the table, at least one type, and the line that counts what is left out.
        if (head.Count + 3 > height)
        {
            head = Packed(Facts(figures, isShort: true), width);
        }

        int room = height - head.Count - 1;
        IReadOnlyList<TopType> types = TopSort.Sort(figures.Types, sort);
        int shown = types.Count <= room ? types.Count : Math.Max(1, room - 1);
        List<IRenderable> lines = [.. head, TopTable.Of([.. types.Take(shown)], width)];
        if (shown < types.Count)
        {
            lines.Add(Line($"and {types.Count - shown:#,##0} more"));
        }

        return new Rows(lines);
    }

    /// <summary>Shows that the server does not answer.</summary>
    public IRenderable Of(string problem) =>
        new Rows(Line($"{endpoint} does not answer: {SafeText.Message(problem)}"), Line("trying again"));

    /// <summary>A text that is at most this wide.</summary>
    public static string Cut(string text, int width) => text.Length <= width ? text : $"{text[..Math.Max(0, width - 1)]}…";

    // Groups of related facts; the short form has the most important ones.
    private List<Fact[]> Facts(TopFigures figures, bool isShort)
    {
        ServerStatus now = figures.Now;
        Fact errors = Counted(now.ErrorsSent, now.ErrorsSent == 1 ? "error sent" : "errors sent", figures.ErrorsPerSecond);
        Fact rejected = Counted(now.ConnectionsRejected, "rejected", figures.RejectedPerSecond);
        Fact dropped = Counted(now.FramesDropped, "dropped", figures.DroppedPerSecond);
        var slow = new Fact(Text($"{now.SlowConsumers:#,##0} slow"), now.SlowConsumers > 0);
        List<Fact[]> groups =
        [
            [
                new Fact(Text($"{SafeText.Of(now.ServerName)} at {endpoint}")),
                new Fact($"up {Uptime(now.UptimeMs)}"),
            ],
            [
                new Fact(Text($"in {figures.MessagesInPerSecond:#,##0} messages/s, {Bytes(figures.BytesInPerSecond)}/s")),
                new Fact(Text($"out {figures.MessagesOutPerSecond:#,##0} messages/s, {Bytes(figures.BytesOutPerSecond)}/s")),
            ],
            [.. Loops(figures.Loops), new Fact(Plural(now.SessionsOpen, "session"))],
            [errors, rejected, dropped, slow],
        ];
        if (!isShort)
        {
            groups[2] =
            [
                .. groups[2],
                new Fact(Text($"{Plural(now.ConnectionsOpen, "connection")} ({now.ConnectionsAccepted:#,##0} accepted)")),
                new Fact(Plural(now.TopicSubscriptions, "subscription")),
            ];
            groups[3] =
            [
                .. groups[3],
                new Fact(Text($"{now.ConnectionsTimedOut:#,##0} timed out")),
                new Fact(Plural(now.AcceptErrors, "failed accept")),
            ];
        }

        return groups;
    }

    private static Fact[] Loops(IReadOnlyList<double> loops) => loops.Count switch
    {
        0 => [],
        <= MostLoops => [new Fact($"loops {string.Join(' ', loops.Select(static busy => Text($"{busy * 100:0}%")))}")],
        _ => [new Fact(Text($"{loops.Count} loops {loops.Average() * 100:0}%, busiest {loops.Max() * 100:0}%"))],
    };

    private static Fact Counted(ulong count, string what, double perSecond) => perSecond > 0
        ? new Fact(Text($"{count:#,##0} {what} (+{perSecond:#,##0.#}/s)"), IsTrouble: true)
        : new Fact(Text($"{count:#,##0} {what}"));

    // As many facts on a line as fit; each group begins a line.
    private static List<Paragraph> Packed(List<Fact[]> groups, int width)
    {
        List<Paragraph> lines = [];
        foreach (Fact[] group in groups)
        {
            int used = -1;
            foreach (Fact fact in group)
            {
                string text = Cut(fact.Text, width);
                if (used >= 0 && used + 2 + text.Length <= width)
                {
                    lines[^1].Append(", ");
                    used += 2;
                }
                else
                {
                    lines.Add(new Paragraph());
                    used = 0;
                }

                lines[^1].Append(text, fact.IsTrouble ? Trouble : Style.Plain);
                used += text.Length;
            }
        }

        return lines;
    }

    private static Text Line(FormattableString text) => new(Text(text));

    private static Text Line(string text) => new(text);

    private static string Plural(ulong count, string noun) => Text($"{count:#,##0} {noun}{(count == 1 ? string.Empty : "s")}");

    private static string Text(FormattableString text) => FormattableString.Invariant(text);

    // As the live page shows bytes.
    private static string Bytes(double value) => value switch
    {
        < 999.5 => Text($"{value:0} B"),
        < 999.5e3 => Text($"{Digits(value / 1e3)} kB"),
        < 999.5e6 => Text($"{Digits(value / 1e6)} MB"),
        _ => Text($"{Digits(value / 1e9)} GB"),
    };

    private static string Digits(double value) => value.ToString(
        value >= 99.95 ? "#,##0" : value >= 9.995 ? "0.#" : "0.##", CultureInfo.InvariantCulture);

    private static string Uptime(ulong milliseconds) =>
        TimeSpan.FromSeconds((long)Math.Min(milliseconds / 1000, LongestUptimeSeconds)).ToString("c", CultureInfo.InvariantCulture);

    private readonly record struct Fact(string Text, bool IsTrouble = false);
}
