using System.Net.Sockets;
using StackExchange.Redis;

namespace FastPort.Redis.Connecting;

/// <summary>
/// How a node connects to Redis: as the operator has written, and for the rest so that it is connected again soon after Redis or the
/// network is.
/// </summary>
internal static class RedisClientOptions
{
    private const int RetryMilliseconds = 500;

    // How often the client of Redis looks for connections that have failed and may be tried again.
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

        // Keys have routing ids, which peers choose: a peer could write anything into the log.
        connection.IncludeDetailInExceptions = false;

        // Without it the client refuses INFO and CONFIG GET, which say whether Redis evicts keys. Redis decides on the user's permissions.
        connection.AllowAdmin = true;

        // A command that cannot be sent now fails now: a relay that waits for Redis would be late without its sender's knowledge.
        connection.BacklogPolicy = BacklogPolicy.FailFast;

        // The kind of the channels is that of the servers, which have to be there to say what they are.
        connection.AbortOnConnectFail = true;
        connection.Protocol ??= RedisProtocol.Resp3;
        connection.AsyncTimeout = connection.SyncTimeout = Math.Min(connection.AsyncTimeout, lease);
        connection.ReconnectRetryPolicy = new LinearRetry(RetryMilliseconds);
        connection.HeartbeatInterval = TimeSpan.FromMilliseconds(HeartbeatMilliseconds);

        // An attempt that meets a dead network sends more and more rarely. A new one sends at once.
        if (!IsGiven("connectTimeout"))
        {
            connection.ConnectTimeout = Math.Min(connection.ConnectTimeout, lease);
        }

        // The channel has a separate connection, on which a node sends nothing else. It would not notice that it is dead.
        if (!IsGiven("keepAlive"))
        {
            connection.KeepAlive = Math.Max(1, lease / 3000);
        }

        connection.BeforeSocketConnect = (_, _, socket) => LimitSilence(socket, lease);
        return connection;

        bool IsGiven(string option) => options.Connection.Contains($"{option}=", StringComparison.OrdinalIgnoreCase);
    }

    // The kernel ends a connection if what was sent has not been acknowledged for so long. Otherwise it would send again more and more
    // rarely, and a network that is back would be noticed as late again as it was away.
    private static void LimitSilence(Socket socket, int milliseconds)
    {
        if (OperatingSystem.IsLinux() && socket.ProtocolType == ProtocolType.Tcp)
        {
            socket.SetRawSocketOption(IpProtocolTcp, TcpUserTimeout, BitConverter.GetBytes(milliseconds));
        }
    }
}
