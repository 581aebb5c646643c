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

    /// <summary>The result of the run.</summary>
    public static string Text(LoadResult result, LoadErrors errors)
    {
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"{result.Messages:#,##0} messages in {result.DurationSeconds:0.00} s: {result.MessagesPerSecond:#,##0} messages/s, "
            + $"{result.BytesPerSecond / 1e6:#,##0.00} MB/s of payload; {result.Errors:#,##0} errors");
        if (result.WarmUpErrors != 0)
        {
            text.Append(CultureInfo.InvariantCulture, $" ({result.WarmUpErrors:#,##0} of them during warm-up)");
        }

        if (result.MissedSends is { } missed)
        {
            text.Append(CultureInfo.InvariantCulture, $", {missed:#,##0} missed sends");
        }

        if (result.Reconnects != 0)
        {
            text.Append(CultureInfo.InvariantCulture, $", {result.Reconnects:#,##0} reconnects");
        }

        text.Append('\n');
        foreach ((LoadErrorKind kind, long count, string first) in errors.List())
        {
            text.Append(CultureInfo.InvariantCulture, $"  {count:#,##0} {Describe(kind)}; the first: {first}\n");
        }

        return text.ToString();
    }

    private static string Describe(LoadErrorKind kind) => kind switch
    {
        LoadErrorKind.Lost => "lost with their connection",
        LoadErrorKind.ErrorReply => "answered with an error",
        LoadErrorKind.Wrong => "wrong",
        LoadErrorKind.Unanswered => "unanswered",
        _ => "without a session at the end of the measured time",
    };
}
