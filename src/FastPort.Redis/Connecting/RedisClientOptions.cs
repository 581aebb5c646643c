using System.Net.Sockets;
using StackExchange.Redis;

namespace FastPort.Redis.Connecting;

/// <summary>
/// How a node connects to Redis: by the operator's options, and otherwise so that it reconnects soon after Redis or the network has
/// recovered.
/// </summary>
internal static class RedisClientOptions
{
    private const int RetryMilliseconds = 500;

    // How often the Redis client checks for failed connections that may be retried.
    private const int HeartbeatMilliseconds = 250;

    // Of Linux, in milliseconds.
    private const int IpProtocolTcp = 6;
    private const int TcpUserTimeout = 18;

    public static ConfigurationOptions Read(RedisBackplaneOptions options)
    {
        ConfigurationOptions connection = ConnectionText.Parse(options.Connection);
        int lease = (int)options.Lease.TotalMilliseconds;
        connection.ClientName ??= $"fastport-{options.Node}";
        connection.LoggerFactory = null;

        // Keys contain routing ids, which peers choose: a peer could write anything into the log.
        connection.IncludeDetailInExceptions = false;

        // Without it the client refuses INFO and CONFIG GET, which show whether Redis evicts keys. Redis decides on the user's permissions.
        connection.AllowAdmin = true;

        // A command that cannot be sent now fails now: a relay that waits for Redis would be late without its sender's knowledge.
        connection.BacklogPolicy = BacklogPolicy.FailFast;

        // The kind of the channels depends on the servers, which must be reachable to report their kind.
        connection.AbortOnConnectFail = true;
        connection.Protocol ??= RedisProtocol.Resp3;
        connection.AsyncTimeout = connection.SyncTimeout = Math.Min(connection.AsyncTimeout, lease);
        connection.ReconnectRetryPolicy = new LinearRetry(RetryMilliseconds);
        connection.HeartbeatInterval = TimeSpan.FromMilliseconds(HeartbeatMilliseconds);

        // An attempt on a dead network retransmits at growing intervals. A new attempt sends at once.
        if (!IsGiven("connectTimeout"))
        {
            connection.ConnectTimeout = Math.Min(connection.ConnectTimeout, lease);
        }

        // The channel has a separate connection, on which a node sends nothing else. It would not notice a dead connection.
        if (!IsGiven("keepAlive"))
        {
            connection.KeepAlive = Math.Max(1, lease / 3000);
        }

        connection.BeforeSocketConnect = (_, _, socket) => LimitSilence(socket, lease);
        return connection;

        bool IsGiven(string option) => options.Connection.Contains($"{option}=", StringComparison.OrdinalIgnoreCase);
    }

    // The kernel ends a connection if sent bytes have not been acknowledged for this time. Otherwise it would retransmit at growing
    // intervals, and a recovered network would be noticed only after as much time again as it was down.
    private static void LimitSilence(Socket socket, int milliseconds)
    {
        if (OperatingSystem.IsLinux() && socket.ProtocolType == ProtocolType.Tcp)
        {
            socket.SetRawSocketOption(IpProtocolTcp, TcpUserTimeout, BitConverter.GetBytes(milliseconds));
        }
    }
}
