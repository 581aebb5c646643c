using System.Reflection;
using System.Text;
using System.Text.Json;
using FastPort.Telemetry.Reports.Html;

namespace FastPort.Telemetry;

/// <summary>
/// Creates a page of measurements: one HTML file under 1 MB that works offline. It is created from the JSON alone, so it can be created
/// later and elsewhere. Thread-safe.
/// </summary>
public static class HtmlReport
{
    /// <summary>Creates the page of one measurement.</summary>
    /// <param name="json">
    /// A <c>.json</c> file of <see cref="LatencyStatsWriter"/>, or a result of the load client (<c>--json</c>), of schema 1 or 2. Schema 1
    /// has no distributions: the page has tables only.
    /// </param>
    /// <returns>The page in UTF-8.</returns>
    /// <exception cref="JsonException">The text is not such a file; the message says why.</exception>
    public static byte[] Create(ReadOnlyMemory<byte> json)
    {
        ReportData data = ReportReader.Read(json);
        return Page($"FastPort report: {data.Title}", new ReportPage(null, data, []));
    }

    /// <summary>Creates the page that compares two measurements.</summary>
    /// <param name="before">The measurement before, as in <see cref="Create"/>.</param>
    /// <param name="after">The measurement after.</param>
    /// <returns>The page in UTF-8.</returns>
    /// <exception cref="JsonException">A text is not such a file; the message says why.</exception>
    public static byte[] Compare(ReadOnlyMemory<byte> before, ReadOnlyMemory<byte> after)
    {
        ReportData data = ReportReader.Read(after);
        ReportData old = ReportReader.Read(before);
        using var x = JsonDocument.Parse(before);
        using var y = JsonDocument.Parse(after);
        return Page(
            $"FastPort comparison: {data.Title}",
            new ReportPage(old, data, MeasurementDifferences.Find(x.RootElement, y.RootElement)));
    }

    private static byte[] Page(string title, ReportPage page)
    {
        ReportPage reduced = page with
        {
            Before = page.Before is null ? null : ReportReduction.Reduce(page.Before),
            After = ReportReduction.Reduce(page.After),
        };

        // The serializer escapes < > & and quotes, so the data cannot end the element that holds it.
        string data = JsonSerializer.Serialize(reduced, ReportJson.Default.ReportPage);
        string html = $"""
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
            <title>{System.Net.WebUtility.HtmlEncode(title)}</title>
            <style>
            {Asset("uPlot.min.css")}
            {Asset("report.css")}
            </style>
            </head>
            <body>
            <main id="report"><noscript>This page draws with JavaScript, which is switched off here.</noscript></main>
            <script id="data" type="application/json">{data}</script>
            <script>
            /*
            {Asset("LICENSE")}
            */
            {Asset("uPlot.iife.min.js")}
            </script>
            <script>
            {Asset("charts.js")}
            {Asset("report.js")}
            </script>
            </body>
            </html>
            """;
        return Encoding.UTF8.GetBytes(html);
    }

    private static string Asset(string name)
    {
        using Stream stream = Assembly.GetExecutingAssembly().GetManifestResourceStream(name)!;
        using var reader = new StreamReader(stream, Encoding.UTF8);
        return reader.ReadToEnd().TrimEnd();
    }
}
