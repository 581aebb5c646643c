using System.Globalization;
using System.Text.RegularExpressions;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>An answer in Prometheus's text format, by series without the labels of OpenTelemetry's scope.</summary>
internal sealed partial class PrometheusText
{
    private readonly Dictionary<string, double> _values = new(StringComparer.Ordinal);

    public PrometheusText(string text)
    {
        Text = text;
        foreach (string line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Where(static line => line[0] != '#'))
        {
            int end = line.LastIndexOf(' ');
            string series = Scope.Replace(line[..end], string.Empty).Replace("{}", string.Empty, StringComparison.Ordinal);
            _values.Add(series, double.Parse(line[(end + 1)..], CultureInfo.InvariantCulture));
        }
    }

    public string Text { get; }

    public IReadOnlyDictionary<string, double> Values => _values;

    /// <summary>Names of metrics, as they are in expressions.</summary>
    public IReadOnlySet<string> Names => _values.Keys.Select(static series => series.Split('{')[0]).ToHashSet(StringComparer.Ordinal);

    public double? Find(string series) => _values.TryGetValue(series, out double value) ? value : null;

    [GeneratedRegex("otel_scope_[a-z_]+=\"[^\"]*\",?")]
    private static partial Regex Scope { get; }
}
