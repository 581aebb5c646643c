using System.Net;
using StackExchange.Redis;

namespace FastPort.Redis.Connecting;

/// <summary>A connection to Redis by the text of the options: to one server, to the master that Sentinels name, or to a cluster.</summary>
internal sealed class RedisConnection : IAsyncDisposable
{
    private const int DefaultPort = 6379;

    private readonly SentinelMaster? _master;

    private RedisConnection(ConnectionMultiplexer redis, SentinelMaster? master)
    {
        Redis = redis;
        _master = master;
    }

    public ConnectionMultiplexer Redis { get; }

    public static async Task<RedisConnection> ConnectAsync(ConfigurationOptions connection)
    {
        if (connection.ServiceName is not { Length: > 0 } service)
        {
            return new RedisConnection(await ConnectionMultiplexer.ConnectAsync(connection).ConfigureAwait(false), null);
        }

        SentinelMaster master = await SentinelMaster.ConnectAsync(connection).ConfigureAwait(false);
        try
        {
            connection = connection.Clone();
            connection.Tunnel = master;
            connection.EndPoints.Clear();
            connection.EndPoints.Add(new DnsEndPoint(service, DefaultPort));
            connection.ServiceName = null;
            return new RedisConnection(await ConnectionMultiplexer.ConnectAsync(connection).ConfigureAwait(false), master);
        }
        catch
        {
            await master.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Redis.DisposeAsync().ConfigureAwait(false);
        if (_master is not null)
        {
            await _master.DisposeAsync().ConfigureAwait(false);
        }
    }
}
