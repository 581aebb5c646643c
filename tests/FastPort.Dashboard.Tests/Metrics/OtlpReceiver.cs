using System.Collections.Concurrent;
using System.Net;
using Google.Protobuf;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>
/// A receiver of OTLP metrics on loopback: it takes the protobuf messages by http/protobuf or by grpc and keeps the last value of each
/// series. Read from the wire format by field numbers (opentelemetry/proto/metrics/v1/metrics.proto).
/// </summary>
internal sealed class OtlpReceiver : IAsyncDisposable
{
    // A grpc message begins with a flag and its length.
    private const int GrpcPrefix = 5;

    private readonly WebApplication _application;
    private readonly ConcurrentDictionary<string, double> _values = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, string> _resource = new(StringComparer.Ordinal);

    private readonly ConcurrentQueue<string> _spans = new();

    private OtlpReceiver(WebApplication application) => _application = application;

    public string Url => _application.Urls.First();

    /// <summary>Last value by "name{key=value,...}".</summary>
    public IReadOnlyDictionary<string, double> Values => _values;

    public IReadOnlyDictionary<string, string> Resource => _resource;

    /// <summary>Names of the spans.</summary>
    public IReadOnlyCollection<string> Spans => _spans;

    public static async Task<OtlpReceiver> StartAsync(bool grpc, int port = 0)
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => kestrel.Listen(
            IPAddress.Loopback, port, listen => listen.Protocols = grpc ? HttpProtocols.Http2 : HttpProtocols.Http1));
        WebApplication application = builder.Build();
        var receiver = new OtlpReceiver(application);
        application.Run(context => receiver.TakeAsync(context, grpc));
        await application.StartAsync();
        return receiver;
    }

    public ValueTask DisposeAsync() => _application.DisposeAsync();

    private static IEnumerable<(int Field, object Value)> Fields(ByteString message)
    {
        using CodedInputStream input = message.CreateCodedInput();
        while (input.ReadTag() is not 0 and var tag)
        {
            yield return (WireFormat.GetTagFieldNumber(tag), WireFormat.GetTagWireType(tag) switch
            {
                WireFormat.WireType.Varint => input.ReadUInt64(),
                WireFormat.WireType.Fixed64 => input.ReadFixed64(),
                WireFormat.WireType.LengthDelimited => input.ReadBytes(),
                _ => input.ReadFixed32(),
            });
        }
    }

    private static IEnumerable<ByteString> Messages(ByteString message, int field) =>
        Fields(message).Where(one => one.Field == field).Select(static one => (ByteString)one.Value);

    private static string Text(ByteString message, int field) =>
        Messages(message, field).Select(static text => text.ToStringUtf8()).FirstOrDefault(string.Empty);

    // KeyValue: key = 1, value = 2 (AnyValue: string_value = 1).
    private static (string Key, string Value) Attribute(ByteString pair) => (Text(pair, 1), Text(Messages(pair, 2).First(), 1));

    private async Task TakeAsync(HttpContext context, bool grpc)
    {
        using var body = new MemoryStream();
        await context.Request.Body.CopyToAsync(body, context.RequestAborted);
        string path = context.Request.Path;
        if (path is "/v1/metrics" or "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export")
        {
            Take(ByteString.CopyFrom(body.ToArray().AsSpan(grpc ? GrpcPrefix : 0)));
        }
        else if (path is "/v1/traces")
        {
            TakeSpans(ByteString.CopyFrom(body.ToArray()));
        }

        context.Response.ContentType = grpc ? "application/grpc" : "application/x-protobuf";
        if (grpc)
        {
            await context.Response.Body.WriteAsync(new byte[GrpcPrefix], context.RequestAborted);
            context.Response.AppendTrailer("grpc-status", "0");
        }
    }

    // ExportMetricsServiceRequest: resource_metrics = 1; ResourceMetrics: resource = 1, scope_metrics = 2; ScopeMetrics: metrics = 2.
    private void Take(ByteString request)
    {
        foreach (ByteString resourceMetrics in Messages(request, 1))
        {
            foreach ((string key, string value) in Messages(resourceMetrics, 1).SelectMany(static r => Messages(r, 1)).Select(Attribute))
            {
                _resource[key] = value;
            }

            foreach (ByteString metric in Messages(resourceMetrics, 2).SelectMany(static scope => Messages(scope, 2)))
            {
                // Metric: name = 1, unit = 3, gauge = 5, sum = 7, each with data_points = 1.
                foreach (ByteString point in Messages(metric, 5).Concat(Messages(metric, 7)).SelectMany(static data => Messages(data, 1)))
                {
                    Keep($"{Text(metric, 1)} {Text(metric, 3)}", point);
                }
            }
        }
    }

    // ExportTraceServiceRequest: resource_spans = 1; ResourceSpans: scope_spans = 2; ScopeSpans: spans = 2; Span: name = 5.
    private void TakeSpans(ByteString request)
    {
        foreach (ByteString span in Messages(request, 1).SelectMany(static r => Messages(r, 2)).SelectMany(static s => Messages(s, 2)))
        {
            _spans.Enqueue(Text(span, 5));
        }
    }

    // NumberDataPoint: as_double = 4, as_int = 6, attributes = 7.
    private void Keep(string name, ByteString point)
    {
        string attributes = string.Join(',', Messages(point, 7).Select(Attribute).Select(static a => $"{a.Key}={a.Value}").Order());
        foreach ((int field, object value) in Fields(point))
        {
            if (field is 4 or 6)
            {
                _values[$"{name}{{{attributes}}}"] = field == 4
                    ? BitConverter.UInt64BitsToDouble((ulong)value)
                    : (long)(ulong)value;
            }
        }
    }
}
