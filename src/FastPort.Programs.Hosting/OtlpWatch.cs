using System.Collections.Concurrent;
using System.Diagnostics.Tracing;
using System.Globalization;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Programs.Hosting;

/// <summary>
/// Logs that the exporter cannot send, and that it can again: the exporter only notifies listeners of its event source. A hosted service,
/// so that it listens before the exporter is created. Thread-safe.
/// </summary>
internal sealed partial class OtlpWatch(ILogger<OtlpWatch> logger) : EventListener, IHostedService
{
    private const string Exporter = "OpenTelemetry-Exporter-OpenTelemetryProtocol";
    private const string Success = "ExportSuccess";

    // With grpc also an unreachable collector, which is not an error for the exporter.
    private const string Transient = "TransientHttpError";
    private const int MostCharacters = 400;

    // The exporter does not show the value, nor what it should be.
    private const string Variables =
        "an endpoint is a URL with its scheme, such as http://127.0.0.1:4317; a protocol is grpc or http/protobuf";

    // The endpoints to which exports fail; and the logged problems of the variables.
    private readonly ConcurrentDictionary<string, bool> _said = new(StringComparer.Ordinal);

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    protected override void OnEventSourceCreated(EventSource eventSource)
    {
        if (eventSource.Name == Exporter)
        {
            // A success is reported at the lowest level. There are a few events for each export, and none for the exported items.
            EnableEvents(eventSource, EventLevel.Verbose);
        }
    }

    protected override void OnEventWritten(EventWrittenEventArgs eventData)
    {
        string target = eventData.Payload is [string first, ..] && Uri.TryCreate(first, UriKind.Absolute, out Uri? uri)
            ? $"{uri}" : string.Empty;
        if (eventData.EventName == Success)
        {
            // Some failures do not contain their endpoint.
            if (_said.TryRemove(target, out _) | _said.TryRemove(string.Empty, out _))
            {
                Works(logger, target);
            }
        }
        else if (eventData.Level is EventLevel.Critical or EventLevel.Error || eventData.EventName == Transient)
        {
            if (_said.TryAdd(target, true))
            {
                Fails(logger, Text(eventData));
            }
        }
        else if (eventData.Level == EventLevel.Warning && Text(eventData) is var text && IsOfVariable(text) && _said.TryAdd(text, true))
        {
            Fails(logger, $"{text}; {Variables}");
        }
    }

    // A variable that cannot be used is replaced by a default.
    private static bool IsOfVariable(string text) =>
        text.Contains("OTEL_", StringComparison.Ordinal) || text.Contains("protocol", StringComparison.Ordinal);

    // Without the stack trace of an exception.
    private static string Text(EventWrittenEventArgs eventData)
    {
        string text = string.Format(CultureInfo.InvariantCulture, eventData.Message ?? "{0}", [.. eventData.Payload ?? []])
            .Split('\n')[0].TrimEnd('\r', ' ', '.');
        return text.Length > MostCharacters ? text[..MostCharacters] : text;
    }

    [LoggerMessage(
        9200, LogLevel.Warning, "OpenTelemetry cannot export as configured: {Why}. It keeps trying; logged once until an export succeeds")]
    private static partial void Fails(ILogger logger, string why);

    [LoggerMessage(9201, LogLevel.Information, "OpenTelemetry exports again to {Endpoint}")]
    private static partial void Works(ILogger logger, string endpoint);
}
