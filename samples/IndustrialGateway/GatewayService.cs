using System.Runtime.CompilerServices;
using FastPort;
using IndustrialGateway.Messages;
using IndustrialGateway.Monitoring;
using IndustrialGateway.Tags;
using Microsoft.Extensions.Logging;

namespace IndustrialGateway;

/// <summary>Serves one call: each has an instance and a device link of its own.</summary>
internal sealed class GatewayService(DeviceLink device, HealthMonitor monitor, TimeProvider time, ILogger<GatewayService> logger)
    : GatewayBase
{
    private const int MostTags = 1000;
    private static readonly TimeSpan WatchInterval = TimeSpan.FromMilliseconds(100);

    public override async ValueTask<TagValues> ReadAsync(TagNames request, RequestContext context)
    {
        // Created at its first use, so read it once. Canceled when the client cancels the request or disconnects.
        CancellationToken aborted = context.Aborted;
        return new TagValues { Values = { await ReadTagsAsync(request, aborted).ToListAsync(aborted) } };
    }

    public override async ValueTask<Written> WriteAsync(WriteRequest request, RequestContext context)
    {
        if (!double.IsFinite(request.Value))
        {
            throw new RequestRefusedException(
                ErrorCode.MalformedBody, $"The value of '{request.Name}' is {request.Value}; it has to be a number.");
        }

        // Without the request's cancellation token: a write that has begun is completed and logged, even if the client no longer waits for
        // the reply.
        double previous = await device.WriteAsync(request.Name, request.Value, CancellationToken.None);
        logger.LogInformation("{Tag}: {Previous} -> {Value} by {Session}", request.Name, previous, request.Value, context.Session);
        return new Written { Previous = previous };
    }

    // Not inline, though it does not wait: it adds the histograms of all threads, and other connections need not stand still meanwhile.
    public override ValueTask<HealthReport> HealthAsync(HealthRequest request, RequestContext context) =>
        ValueTask.FromResult(monitor.Report());

    // docs: watch
    public override async IAsyncEnumerable<TagValue> WatchAsync(
        TagNames request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var last = new Dictionary<string, double>(StringComparer.Ordinal);
        while (true)
        {
            await foreach (TagValue value in ReadTagsAsync(request, cancellationToken))
            {
                if (!last.TryGetValue(value.Name, out double before) || value.Value != before)
                {
                    last[value.Name] = value.Value;
                    yield return value;
                }
            }

            await Task.Delay(WatchInterval, time, cancellationToken);
        }
    }

    private async IAsyncEnumerable<TagValue> ReadTagsAsync(TagNames tags, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        if (tags.Names.Count > MostTags)
        {
            throw new RequestRefusedException(
                ErrorCode.Overloaded, $"The request names {tags.Names.Count} tags; at most {MostTags} are allowed.");
        }

        foreach (string name in tags.Names)
        {
            double value = await device.ReadAsync(name, cancellationToken);
            yield return new TagValue { Name = name, Value = value, UnixMs = time.GetUtcNow().ToUnixTimeMilliseconds() };
        }
    }

    // docs: end
}
