using FastPort;
using Microsoft.Extensions.Logging;

namespace IndustrialGateway.Tags;

/// <summary>
/// One request's access to the plant: a scoped service, as a database context would be. It is created with the request's handler and
/// disposed when the handler has ended; the state shared by all requests is in <see cref="TagStore"/>.
/// </summary>
internal sealed class DeviceLink(TagStore store, TimeProvider time, ILogger<DeviceLink> logger) : IDisposable
{
    // Duration of a round trip to a device. Only a queued handler may wait for it.
    private static readonly TimeSpan RoundTrip = TimeSpan.FromMilliseconds(2);
    private int _reads;
    private int _writes;

    public async ValueTask<double> ReadAsync(string name, CancellationToken cancellationToken)
    {
        await Task.Delay(RoundTrip, time, cancellationToken);
        _reads++;
        return store.TryRead(name, out double value) ? value : throw NoSuchTag(name);
    }

    public async ValueTask<double> WriteAsync(string name, double value, CancellationToken cancellationToken)
    {
        if (TagStore.IsMeasured(name))
        {
            throw new RequestRefusedException(ErrorCode.Forbidden, $"Tag '{name}' is measured and cannot be written.");
        }

        await Task.Delay(RoundTrip, time, cancellationToken);
        _writes++;
        return store.TryWrite(name, value, out double previous) ? previous : throw NoSuchTag(name);
    }

    public void Dispose() => logger.LogDebug("Device link done: {Reads} reads, {Writes} writes", _reads, _writes);

    private static RequestRefusedException NoSuchTag(string name) => new(ErrorCode.NotFound, $"There is no tag '{name}'.");
}
