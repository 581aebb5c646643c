using System.Globalization;
using System.Text;
using FastPort.Client.Load;

namespace FastPort.Client.Reports;

/// <summary>The lines before and after a run's table.</summary>
internal static class LoadSummary
{
    /// <summary>The settings of the run.</summary>
    public static string Heading(LoadSettings settings, string server)
    {
        string loop = settings.Mode != LoadMode.Echo ? "one-way"
            : settings.Rate is { } rate ? string.Create(CultureInfo.InvariantCulture, $"open loop at {rate:#,##0.###} messages/s")
            : "closed loop";
        string where = settings.Server is null ? $"{server} (hosted inside this process)" : server;
        string sessions = settings.Mode == LoadMode.Echo && !settings.MeasuresSessions
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"latencies of each connection are measured up to {LoadSettings.MaxMeasuredSessions:#,##0} connections only: "
                + $"not in this run\n")
            : string.Empty;
        string times = string.Create(
            CultureInfo.InvariantCulture,
            $"{settings.WarmUp.TotalSeconds:0.###} s warm-up, {settings.Duration.TotalSeconds:0.###} s measured");
        return string.Create(
            CultureInfo.InvariantCulture,
            $"""
            {LoadResult.NameOf(settings.Mode)} to {where} over {settings.Transport.ClientTransport}
            {settings.Connections} connections x {settings.InFlight} in flight, {settings.Size} bytes, {loop}, {times}
            {sessions}
            """);
    }

    /// <summary>The first lines of the report: what limited the rate, and the messages that the latencies cover.</summary>
    public static string Beginning(LoadSettings settings, LoadMeasurement measured)
    {
        double rate = measured.Duration > TimeSpan.Zero ? measured.Messages / measured.Duration.TotalSeconds : 0;
        string latencies = settings switch
        {
            { Mode: not LoadMode.Echo } => string.Empty,
            { Rate: not null } => "latencies of the messages that were due in the measured time, each from when it was due\n",
            _ => "latencies of the messages that were answered in the measured time, each from when it was sent\n",
        };
        return string.Create(
            CultureInfo.InvariantCulture, $"{rate:#,##0} messages/s{Asked(settings.Rate)}, bound by {measured.BoundBy}\n{latencies}");
    }

    /// <summary>The result of the run.</summary>
    /// <param name="result">The result.</param>
    /// <param name="errors">The errors of the run.</param>
    /// <param name="colored">Whether non-zero values that should be zero are red.</param>
    public static string Text(LoadResult result, LoadErrors errors, bool colored)
    {
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"{result.Messages:#,##0} messages in {result.DurationSeconds:0.00} s: {result.MessagesPerSecond:#,##0} messages/s"
            + $"{Asked(result.Rate)}, {result.BytesPerSecond / 1e6:#,##0.00} MB/s of payload; ");
        string warmUp = result.WarmUpErrors == 0
            ? string.Empty
            : string.Create(CultureInfo.InvariantCulture, $" ({result.WarmUpErrors:#,##0} of them during warm-up)");
        text.Append(Alarm(result.Errors, "error", colored)).Append(warmUp);
        if (result.MissedSends is { } missed)
        {
            text.Append(", ").Append(Alarm(missed, "missed send", colored));
        }

        text.Append(", ").Append(Alarm(result.Reconnects, "reconnect", colored));
        text.Append(", ").Append(Alarm(result.Interruptions ?? 0, "interruption", colored));
        if (result.InterruptedSeconds is > 0 and { } seconds)
        {
            text.Append(CultureInfo.InvariantCulture, $" of {seconds:0.0} s in total");
        }

        text.Append('\n');
        foreach ((LoadErrorKind kind, long count, string first) in errors.List())
        {
            text.Append(CultureInfo.InvariantCulture, $"  {count:#,##0} {Describe(kind)}; the first: {first}\n");
        }

        return text.ToString();
    }

    private static string Asked(double? rate) =>
        rate is { } asked ? string.Create(CultureInfo.InvariantCulture, $" of {asked:#,##0.###} asked for") : string.Empty;

    private static string Alarm(long count, string name, bool colored) =>
        TerminalText.Red(
            string.Create(CultureInfo.InvariantCulture, $"{count:#,##0} {name}{(count == 1 ? string.Empty : "s")}"), colored && count != 0);

    private static string Describe(LoadErrorKind kind) => kind switch
    {
        LoadErrorKind.Lost => "lost with their connection",
        LoadErrorKind.ErrorReply => "answered with an error",
        LoadErrorKind.Wrong => "wrong",
        LoadErrorKind.Unanswered => "unanswered",
        _ => "without a session at the end of the measured time",
    };
}
