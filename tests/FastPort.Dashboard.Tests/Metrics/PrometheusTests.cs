using System.Buffers;
using System.Globalization;
using System.Net;
using System.Text;
using System.Text.RegularExpressions;
using FastPort.Dashboard.Metrics;
using FastPort.Dashboard.Tests.Support;
using FastPort.Telemetry;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>What Prometheus gets from a real server.</summary>
public sealed partial class PrometheusTests
{
    private const string Echo = "message_type=\"Echo\"";

    [Fact]
    public async Task Counters_and_histograms_are_those_of_the_messages()
    {
        await using MeteredServer server = await MeteredServer.StartAsync();
        await server.EchoAsync(200);

        PrometheusText metrics = await server.MetricsAsync($"fastport_request_duration_seconds_count{{{Echo}}}", 200);
        PrometheusText counted = await server.MetricsAsync("fastport_messages_received_total", 201);

        // The Hello is the one more.
        Assert.Equal(201, counted.Find("fastport_messages_sent_total"));
        Assert.Equal(1, counted.Find("fastport_connections_open"));
        Assert.Equal(1, counted.Find("fastport_sessions_open"));
        Assert.Equal(0, counted.Find("fastport_connections_rejected_total{reason=\"ConnectionLimit\"}"));
        Assert.InRange(counted.Find("fastport_memory_limit_bytes") ?? 0, 1, double.MaxValue);
        foreach (string name in (string[])["request", "request_queue", "request_handler"])
        {
            Assert.Equal(200, metrics.Find($"fastport_{name}_duration_seconds_count{{{Echo}}}"));
            (double Bound, double Count)[] buckets = Buckets(metrics, $"fastport_{name}_duration_seconds");
            Assert.Equal(double.PositiveInfinity, buckets[^1].Bound);
            Assert.Equal(200, buckets[^1].Count);
            Assert.Equal(buckets.Select(static b => b.Count).Order(), buckets.Select(static b => b.Count));
            Assert.All(buckets.Zip(buckets.Skip(1).SkipLast(1)), static pair =>
                Assert.InRange(pair.Second.Bound / pair.First.Bound, 1.01, 1.21));
            Assert.InRange(buckets[0].Bound, 0, 2e-7);
            Assert.InRange(buckets[^2].Bound, 5, 60);
        }

        // An upper bound of the sum: each message took at most its bucket's bound.
        (double Bound, double Count)[] all = Buckets(metrics, "fastport_request_duration_seconds");
        double atMost = all.Select((bucket, i) => (bucket.Count - (i == 0 ? 0 : all[i - 1].Count)) * Math.Min(bucket.Bound, 60)).Sum();
        Assert.InRange(metrics.Find($"fastport_request_duration_seconds_sum{{{Echo}}}") ?? 0, atMost / 1.25, atMost);
    }

    [Fact]
    public void Two_types_of_one_name_are_two_series()
    {
        var stats = new LatencyStats(LatencyRole.Server, typeName: static _ => "Echo");
        stats.ForType(0x100).RecordHandled(9_000, 2_000, 5_000);
        stats.ForType(0x1001).RecordHandled(9_000, 2_000, 5_000);
        var output = new ArrayBufferWriter<byte>();

        DurationHistograms.Write(output, stats.ReadTotals());

        string[] series = [
            .. Encoding.UTF8.GetString(output.WrittenSpan).Split('\n', StringSplitOptions.RemoveEmptyEntries)
                .Where(static line => line[0] != '#').Select(static line => line[..line.LastIndexOf(' ')])];
        Assert.Equal(series.Distinct(), series);
        Assert.Contains("fastport_request_duration_seconds_count{message_type=\"Echo (0x1001)\"}", series);
    }

    [Fact]
    public void Numbers_have_a_point_whatever_the_culture_of_the_program()
    {
        var stats = new LatencyStats(LatencyRole.Server, typeName: static _ => "Echo");
        stats.ForType(0x100).RecordHandled(1_500_000, 250_000, 750_000);
        var output = new ArrayBufferWriter<byte>();
        var comma = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        comma.NumberFormat.NumberDecimalSeparator = ",";
        CultureInfo before = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture = comma;
        try
        {
            DurationHistograms.Write(output, stats.ReadTotals());
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }

        string text = Encoding.UTF8.GetString(output.WrittenSpan);
        Assert.Equal(1.5e-3, new PrometheusText(text).Find($"fastport_request_duration_seconds_sum{{{Echo}}}") ?? 0, 1e-4);
        Assert.DoesNotMatch("[0-9],[0-9]", text);
    }

    [Fact]
    public async Task Bounds_stay_the_same_from_the_first_message_on()
    {
        await using MeteredServer server = await MeteredServer.StartAsync();
        await server.EchoAsync(1);
        PrometheusText first = await server.MetricsAsync($"fastport_request_duration_seconds_count{{{Echo}}}", 1);
        await server.EchoAsync(50);
        PrometheusText second = await server.MetricsAsync($"fastport_request_duration_seconds_count{{{Echo}}}", 51);

        Assert.Equal(
            Buckets(first, "fastport_request_duration_seconds").Select(static b => b.Bound),
            Buckets(second, "fastport_request_duration_seconds").Select(static b => b.Bound));
    }

    [Fact]
    public async Task A_clients_latencies_have_number_and_sum()
    {
        var metrics = new PrometheusText(await ClientMetricsAsync());

        Assert.Equal(2, metrics.Find($"fastport_client_request_duration_count_total{{{Echo}}}"));
        Assert.Equal(2e-3, metrics.Find($"fastport_client_request_duration_sum_seconds_total{{{Echo}}}"));
        Assert.Equal(1e-3, metrics.Find($"fastport_client_request_server_duration_sum_seconds_total{{{Echo}}}"));
        Assert.Equal(1e-3, metrics.Find($"fastport_client_request_network_duration_sum_seconds_total{{{Echo}}}"));
        Assert.DoesNotContain(metrics.Names, static name => name.Contains("quantile", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Latencies_without_a_histogram_have_number_and_sum()
    {
        const string Other = "metered-other";
        const string Peer = "metered-peer";
        var calls = new LatencyStats(LatencyRole.Client);
        calls.ForOperation("line1 Read").RecordCall(1_000_000);
        await using DashboardHost host = await DashboardHost.StartAsync(services =>
        {
            services.AddMetrics();
            services.AddFastPort(Other, Section(("S:Endpoints:0", "inproc://metered-other")));
            services.AddKeyedSingleton(Peer, calls);
            services.AddFastPortClient(Peer, Section(("S:Endpoint", "inproc://nobody"), ("S:RetryConnect", "true")));
        });
        host.Services.GetRequiredKeyedService<LatencyStats>(Other).ForType(0x100).RecordHandled(3_000_000, 1_000_000, 2_000_000);
        host.Services.GetRequiredService<LatencyStats>().ForType(0x100).RecordHandled(3_000_000, 1_000_000, 2_000_000);

        string[] lines = (await host.Http.GetStringAsync("/metrics", TestContext.Current.CancellationToken)).Split('\n');

        PrometheusText other = Of(Other);
        Assert.Equal(1, other.Find("fastport_request_duration_count_total{message_type=\"0x0100\"}"));
        Assert.Equal(2e-3, other.Find("fastport_request_handler_duration_sum_seconds_total{message_type=\"0x0100\"}"));
        Assert.Equal(1, Of(Peer).Find("fastport_operation_duration_count_total{operation=\"line1 Read\"}"));
        Assert.DoesNotContain(other.Names, static name => name.Contains("quantile", StringComparison.Ordinal));

        // That of the server that is shown is a histogram. Other tests have servers without a name in this process.
        Assert.All(
            lines.Where(static line => line.StartsWith("fastport_request_duration_count_total", StringComparison.Ordinal)),
            static line => Assert.Contains("otel_scope_fastport_server=", line, StringComparison.Ordinal));
        Assert.Contains(lines, static line => line.StartsWith("fastport_request_duration_seconds_count", StringComparison.Ordinal));

        PrometheusText Of(string name) =>
            new(string.Join('\n', lines.Where(line => line.Contains($"=\"{name}\"", StringComparison.Ordinal))));
        static IConfigurationSection Section(params (string Key, string? Value)[] settings) => new ConfigurationBuilder()
            .AddInMemoryCollection(settings.Select(static one => KeyValuePair.Create(one.Key, one.Value)))
            .Build().GetSection("S");
    }

    [Fact]
    public async Task A_count_of_the_application_that_throws_costs_no_metric()
    {
        await using DashboardHost host = await DashboardHost.StartAsync(static services => services.AddMetrics());
        LatencyStats stats = host.Services.GetRequiredService<LatencyStats>();
        stats.ForType(0x100).RecordHandled(3_000_000, 1_000_000, 2_000_000);
        bool isBroken = false;
        stats.AddCount("pump", "read", () => Volatile.Read(ref isBroken) ? throw new InvalidOperationException("broken") : 7);
        Volatile.Write(ref isBroken, true);

        string metrics = await host.Http.GetStringAsync("/metrics", TestContext.Current.CancellationToken);

        Assert.Contains($"\nfastport_request_duration_seconds_count{{{Echo}}} 1\n", metrics, StringComparison.Ordinal);
    }

    [PrometheusFact]
    public async Task Promtool_has_nothing_to_complain_about_a_client() =>
        Assert.Equal((0, string.Empty), await PrometheusTools.CheckAsync(await ClientMetricsAsync()));

    [Theory]
    [InlineData("application/openmetrics-text; version=1.0.0")]
    [InlineData("text/html")]
    [InlineData("application/vnd.google.protobuf")]
    public async Task The_format_is_the_same_whatever_is_asked_for(string accept)
    {
        await using MeteredServer server = await MeteredServer.StartAsync();
        using var request = new HttpRequestMessage(HttpMethod.Get, "/metrics");
        request.Headers.TryAddWithoutValidation("Accept", accept);
        request.Headers.TryAddWithoutValidation("Accept-Encoding", "gzip");

        using HttpResponseMessage answer = await server.Http.SendAsync(request, TestContext.Current.CancellationToken);

        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.Empty(answer.Content.Headers.ContentEncoding);
        Assert.Equal("text/plain", answer.Content.Headers.ContentType?.MediaType);
        Assert.Contains(answer.Content.Headers.ContentType!.Parameters, static p => p is { Name: "version", Value: "0.0.4" });
        Assert.DoesNotContain("# EOF", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [PrometheusFact]
    public async Task Promtool_has_nothing_to_complain_about()
    {
        await using MeteredServer server = await MeteredServer.StartAsync();
        await server.EchoAsync(10);
        PrometheusText metrics = await server.MetricsAsync($"fastport_request_duration_seconds_count{{{Echo}}}", 10);

        (int exit, string said) = await PrometheusTools.CheckAsync(metrics.Text);
        Assert.Equal((0, string.Empty), (exit, said));

        // It does complain: a test that passes whatever the tool says would say nothing.
        (exit, said) = await PrometheusTools.CheckAsync("# TYPE x_count counter\nx_count 1\n");
        Assert.NotEqual(0, exit);
        Assert.NotEmpty(said);
    }

    // Of a host with a client that has measured two requests. Hosts of other tests have the same meters in this process.
    private static async Task<string> ClientMetricsAsync()
    {
        const string Peer = "measured-peer";
        var latencies = new LatencyStats(LatencyRole.Client, typeName: static _ => "Echo");
        latencies.ForType(0x100).RecordRoundTrip(1_000_000, 500_000);
        latencies.ForType(0x100).RecordRoundTrip(1_000_000, 500_000);
        await using DashboardHost host = await DashboardHost.StartAsync(services =>
        {
            services.AddMetrics();
            services.AddKeyedSingleton(Peer, latencies);
            services.AddFastPortClient(Peer, new ConfigurationBuilder()
                .AddInMemoryCollection([new("Peer:Endpoint", "inproc://nobody"), new("Peer:RetryConnect", "true")])
                .Build().GetSection("Peer"));
        });
        string all = await host.Http.GetStringAsync("/metrics", TestContext.Current.CancellationToken);
        return string.Concat(all.Split('\n')
            .Where(static line => line.StartsWith('#')
                ? line.Contains("fastport_client_", StringComparison.Ordinal)
                : line.Contains($"=\"{Peer}\"", StringComparison.Ordinal))
            .Select(static line => $"{line}\n"));
    }

    private static (double Bound, double Count)[] Buckets(PrometheusText metrics, string name) =>
    [
        .. metrics.Values.Where(series => series.Key.StartsWith($"{name}_bucket{{{Echo}", StringComparison.Ordinal))
            .Select(static series => (Parse(Bound.Match(series.Key).Groups[1].Value), series.Value)),
    ];

    private static double Parse(string bound) =>
        bound == "+Inf" ? double.PositiveInfinity : double.Parse(bound, CultureInfo.InvariantCulture);

    [GeneratedRegex("le=\"([^\"]+)\"")]
    private static partial Regex Bound { get; }
}
