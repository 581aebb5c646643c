using System.Net;
using StackExchange.Redis;
using StackExchange.Redis.Configuration;

namespace FastPort.Redis.Connecting;

/// <summary>
/// Leads each connection to the server that the Sentinels name as the master at that moment. The client knows one server, so it never
/// chooses between two that both find themselves masters, as a former one does for some seconds after a failover.
/// </summary>
internal sealed class SentinelMaster : Tunnel, IAsyncDisposable
{
    private readonly ConnectionMultiplexer _sentinels;
    private readonly string _service;
    private EndPoint _master;

    private SentinelMaster(ConnectionMultiplexer sentinels, string service, EndPoint master)
    {
        _sentinels = sentinels;
        _service = service;
        _master = master;
    }

    /// <summary>Connects to the Sentinels of a connection.</summary>
    /// <exception cref="RedisConnectionException">None answers, or none knows the service.</exception>
    public static async Task<SentinelMaster> ConnectAsync(ConfigurationOptions connection)
    {
        ConfigurationOptions options = connection.Clone();
        options.User = connection.SentinelUser;
        options.Password = connection.SentinelPassword;
        ConnectionMultiplexer sentinels = await ConnectionMultiplexer.SentinelConnectAsync(options).ConfigureAwait(false);
        string service = connection.ServiceName!;
        if (await FindAsync(sentinels, service).ConfigureAwait(false) is { } master)
        {
            return new SentinelMaster(sentinels, service, master);
        }

        await sentinels.DisposeAsync().ConfigureAwait(false);
        throw new RedisConnectionException(
            ConnectionFailureType.UnableToConnect, CommandFlags.None, $"The Sentinels know no master with the serviceName '{service}'.");
    }

    /// <inheritdoc/>
    public override async ValueTask<EndPoint?> GetSocketConnectEndpointAsync(EndPoint endpoint, CancellationToken cancellationToken) =>
        _master = await FindAsync(_sentinels, _service).ConfigureAwait(false) ?? _master;

    public ValueTask DisposeAsync() => _sentinels.DisposeAsync();

    private static async Task<EndPoint?> FindAsync(ConnectionMultiplexer sentinels, string service)
    {
        foreach (IServer sentinel in sentinels.GetServers().Where(static one => one.IsConnected))
        {
            try
            {
                if (await sentinel.SentinelGetMasterAddressByNameAsync(service).ConfigureAwait(false) is { } master)
                {
                    return master;
                }
            }
            catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException)
            {
                // The next one may know.
            }
        }

        return null;
    }
}
