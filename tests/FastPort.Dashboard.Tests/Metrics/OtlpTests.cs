using System.Net;
using System.Net.Sockets;
using FastPort.Dashboard.Tests.Support;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>What a collector gets from the server program by OTLP, as the standard variables say.</summary>
public sealed class OtlpTests
{
    private const string Assemblies = "OpenTelemetry";

    [Theory]
    [InlineData("http/protobuf")]
    [InlineData("grpc")]
    public async Task Counters_and_percentiles_arrive_as_the_server_has_them(string protocol)
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(grpc: protocol == "grpc");
        await using MeteredServer server = await MeteredServer.StartAsync(
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200"));
        await server.EchoAsync(100);

        // The Hello is the one more.
        PrometheusText same = await server.MetricsAsync("fastport_messages_received_total", 101);
        await ArrivesAsync(receiver, "fastport.messages.received {message}{}", 101);
        await ArrivesAsync(receiver, "fastport.request.duration.count {message}{message.type=Echo}", 100);

        Assert.Equal(same.Find("fastport_traffic_received_bytes_total"), receiver.Values["fastport.traffic.received By{}"]);
        Assert.Equal(1, receiver.Values["fastport.connections.open {connection}{}"]);
        Assert.Equal(0, receiver.Values["fastport.frames.dropped {frame}{reason=SendQueueFull}"]);
        double sum = receiver.Values["fastport.request.duration.sum s{message.type=Echo}"];
        Assert.Equal(same.Find("fastport_request_duration_seconds_sum{message_type=\"Echo\"}") ?? 0, sum, 9);
        Assert.InRange(Quantile("0.5"), 1e-7, Quantile("0.99"));
        Assert.InRange(Quantile("0.99"), 1e-7, Quantile("max"));
        Assert.InRange(Quantile("max"), sum / 100, sum);
        Assert.Equal("FastPort.Server", receiver.Resource["service.name"]);

        double Quantile(string quantile) =>
            receiver.Values[$"fastport.request.duration.quantile s{{message.type=Echo,quantile={quantile}}}"];
    }

    [Fact]
    public async Task The_service_s_name_and_attributes_are_those_of_the_environment()
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(grpc: false);
        await using MeteredServer server = await MeteredServer.StartAsync(
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", $"{receiver.Url}/v1/metrics"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
            ("OTEL_SERVICE_NAME", "arena"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test"));

        await ArrivesAsync(receiver, "fastport.connections.open {connection}{}", 1);

        // Two nodes of one name are two.
        Assert.True(Guid.TryParse(receiver.Resource["service.instance.id"], out _));
        Assert.Equal("arena", receiver.Resource["service.name"]);
        Assert.Equal("test", receiver.Resource["deployment.environment"]);
    }

    [Fact]
    public async Task An_instance_that_is_named_keeps_its_name()
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(grpc: false);
        await using MeteredServer server = await MeteredServer.StartAsync(
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=node-a"));

        await ArrivesAsync(receiver, "fastport.connections.open {connection}{}", 1);

        Assert.Equal(("FastPort.Server", "node-a"), (receiver.Resource["service.name"], receiver.Resource["service.instance.id"]));
    }

    [Theory]
    [InlineData("http/protobuf")]
    [InlineData("grpc")]
    public async Task A_collector_that_is_away_is_told_once_and_that_it_is_back_too(string protocol)
    {
        int port = FreePort();
        await using MeteredServer server = await MeteredServer.StartAsync(
            ("OTEL_EXPORTER_OTLP_ENDPOINT", $"http://127.0.0.1:{port}"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_METRIC_EXPORT_INTERVAL", "100"));
        await server.Process.PrintedAsync("OpenTelemetry cannot export as configured: ", 1);

        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(protocol == "grpc", port);
        await server.Process.PrintedAsync("OpenTelemetry exports again", 1);
        await ArrivesAsync(receiver, "fastport.connections.open {connection}{}", 1);

        Assert.Equal(2, server.Process.Output.Split('\n').Count(static line => line.Contains("OpenTelemetry", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData("OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4317", "'OTEL_EXPORTER_OTLP_ENDPOINT' has an invalid value")]
    [InlineData("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", "collector:4317")]
    [InlineData("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "'http/json'")]
    public async Task A_variable_that_cannot_be_used_is_told(string key, string value, string told)
    {
        await using ServerProcess server = DashboardPrograms.StartServer(
            ["--listen", "tcp://127.0.0.1:0"],
            ("OTEL_METRICS_EXPORTER", "otlp"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "100"),
            (key, value));
        await server.ListeningAsync();

        await server.PrintedAsync("OpenTelemetry cannot export as configured: ", 1);

        await Patience.UntilAsync(() => server.Output.Contains(told, StringComparison.Ordinal), $"{told} is told");
    }

    [Fact]
    public async Task Traces_arrive_where_their_exporter_is_named()
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(grpc: false);
        await using MeteredServer server = await MeteredServer.StartAsync(
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_TRACES_EXPORTER", "otlp"),
            ("OTEL_BSP_SCHEDULE_DELAY", "200"));

        await server.EchoAsync(3);

        await Patience.UntilAsync(() => receiver.Spans.Count(static span => span == "Echo") == 3, "three spans of Echo have arrived");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Nothing_of_OpenTelemetry_is_loaded_unless_it_is_asked_for(bool isAsked)
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(grpc: false);
        await using ServerProcess server = DashboardPrograms.StartServer(
            ["--listen", "tcp://127.0.0.1:0"],
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_METRICS_EXPORTER", isAsked ? "otlp" : "none"));
        await server.ListeningAsync();

        string maps = await File.ReadAllTextAsync($"/proc/{server.Id}/maps", TestContext.Current.CancellationToken);

        Assert.Contains("FastPort.Core", maps, StringComparison.Ordinal);
        Assert.Equal(isAsked, maps.Contains(Assemblies, StringComparison.Ordinal));
    }

    [Fact]
    public async Task An_exporter_that_is_not_there_is_told_with_what_to_do()
    {
        await using ServerProcess server = DashboardPrograms.StartServer(
            ["--listen", "tcp://127.0.0.1:0"], ("OTEL_METRICS_EXPORTER", "prometheus"));

        Assert.Equal(2, await server.ExitAsync());
        Assert.Equal(
            "OTEL_METRICS_EXPORTER is 'prometheus'; give otlp or none. Prometheus reads /metrics of the dashboard (--dashboard).",
            server.Errors.Trim());
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private static Task ArrivesAsync(OtlpReceiver receiver, string series, double value) => Patience.UntilAsync(
        () => receiver.Values.TryGetValue(series, out double last) && last == value, $"{series} is {value}");
}
