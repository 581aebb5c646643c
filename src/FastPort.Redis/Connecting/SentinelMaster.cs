using System.Net;
using StackExchange.Redis;
using StackExchange.Redis.Configuration;

namespace FastPort.Redis.Connecting;

/// <summary>
/// Leads each connection to the server that the Sentinels name as the master at that moment. The client knows one server, so it never
/// chooses between two servers that both consider themselves the master, as a former master does for some seconds after a failover.
/// </summary>
internal sealed class SentinelMaster : Tunnel, IAsyncDisposable
{
    // How long to wait for others after an answer.
    private static readonly TimeSpan OthersWait = TimeSpan.FromSeconds(1);

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

    /// <summary>
    /// The server that most Sentinels name: a Sentinel that was disconnected may still name a former master. If several are named equally
    /// often, the first.
    /// </summary>
    /// <param name="answers">The server that each has named, in their order; null for none.</param>
    /// <param name="times">How often it was named; 0 if there is none.</param>
    internal static EndPoint? MostNamed(IEnumerable<EndPoint?> answers, out int times)
    {
        IGrouping<EndPoint, EndPoint>? most = answers.OfType<EndPoint>().GroupBy(static one => one).MaxBy(static same => same.Count());
        times = most?.Count() ?? 0;
        return most?.Key;
    }

    private static async Task<EndPoint?> FindAsync(ConnectionMultiplexer sentinels, string service)
    {
        Task<EndPoint?>[] asked =
            [.. sentinels.GetServers().Where(static one => one.IsConnected).Select(sentinel => AskAsync(sentinel, service))];
        EndPoint? master = null;
        using var patience = new CancellationTokenSource();
        try
        {
            await foreach (Task<EndPoint?> _ in Task.WhenEach(asked).WithCancellation(patience.Token).ConfigureAwait(false))
            {
                master = MostNamed(asked.Select(static one => one.IsCompleted ? one.Result : null), out int times);
                if (times > asked.Length / 2)
                {
                    break;
                }

                if (master is not null)
                {
                    patience.CancelAfter(OthersWait);
                }
            }
        }
        catch (OperationCanceledException)
        {
            // One that hangs is waited for no longer.
        }

        return master;
    }

    // Null if it does not answer, or knows no master.
    private static async Task<EndPoint?> AskAsync(IServer sentinel, string service)
    {
        try
        {
            return await sentinel.SentinelGetMasterAddressByNameAsync(service).ConfigureAwait(false);
        }
        catch (Exception e) when (e is RedisException or TimeoutException or ObjectDisposedException or OperationCanceledException)
        {
            return null;
        }
    }
}
