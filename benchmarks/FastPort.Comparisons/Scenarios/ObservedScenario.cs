using System.Net;
using System.Net.Sockets;
using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What it costs FastPort.Server to be looked at: dashboard, Prometheus and OTLP, against the same server without them.</summary>
internal sealed class ObservedScenario : ContestScenario
{
    private const int Connections = 32;
    private const int InFlight = 16;
    private const int PayloadBytes = 64;
    private const string Everything = "everything on";
    private const string Off = "off";
    private const string TenPages = "ten pages open";
    private const string NoPage = "no page open";

    public override string Name => "observed";

    public override string Description => "The CPU time that dashboard, Prometheus and OTLP cost the server under load.";

    // Long enough for an export every 10 s, and 20 pairs.
    public override ScenarioDefaults Defaults { get; } = new(11, 1, 20, 1);

    protected override string Method =>
        "Typed Echo of 64 B over 32 connections with 16 requests in flight each, server and client with a core each. \"Everything on\": a "
        + "page is open, /metrics is scraped each second, and metrics are exported over OTLP and HTTP every 10 s; without traces. The "
        + "readers run only while their server is measured. Every reply is compared with its request, byte for byte.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.ServerCpuPerMessage, Metric.Throughput, Metric.RoundTripP50, Metric.RoundTripP99, Metric.ServerPeakRss, Metric.OtherCpuShare,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        Candidate server = context.Candidates.FastPort;
        yield return Pair(
            "dashboard, Prometheus and OTLP",
            Observed(
                Everything,
                server,
                new Watchers(Pages: 1, IsScraped: true, ExportPort: FreePort()),
                context),
            new ServerContestant(server with { Name = Off }, Load(context), context),
            Target.AtMost(1.03));
        yield return Pair(
            "ten pages",
            Observed(TenPages, server, new Watchers(Pages: 10, IsScraped: false, ExportPort: null), context),
            Observed(NoPage, server, new Watchers(Pages: 0, IsScraped: false, ExportPort: null), context),
            Target.AtMost(1.02));
    }

    private static Workload Pair(string title, ObservedContestant subject, IContestant reference, Target target) =>
        new(title, [subject, reference], [new RatioQuestion(Metric.ServerCpuPerMessage, subject.Name, reference.Name, target)]);

    private static ObservedContestant Observed(string name, Candidate server, Watchers watchers, ScenarioContext context)
    {
        string dashboard = $"http://127.0.0.1:{Invariant.Text(FreePort())}";
        Candidate observed = (server with { Name = name }).With("Dashboard__Url", dashboard);
        if (watchers.ExportPort is { } port)
        {
            observed = observed.With("OTEL_EXPORTER_OTLP_ENDPOINT", OtlpSink.EndpointAt(port))
                .With("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
                .With("OTEL_METRIC_EXPORT_INTERVAL", context.Options.Quick ? "200" : "10000");
        }

        return new ObservedContestant(new ServerContestant(observed, Load(context), context), new Uri(dashboard), watchers);
    }

    private static EchoLoad Load(ScenarioContext context) => new(context.Bench, context.Native, Connections, InFlight, PayloadBytes);

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
