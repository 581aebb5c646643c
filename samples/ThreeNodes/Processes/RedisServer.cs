using System.Diagnostics;
using System.Globalization;

namespace ThreeNodes.Processes;

/// <summary>What the nodes find each other by. Nothing of it has to outlive them, so nothing is written to disk.</summary>
internal static class RedisServer
{
    /// <exception cref="ChildFailedException">It is not installed, or does not start.</exception>
    public static Task<Child> StartAsync(int port, CancellationToken cancellationToken)
    {
        string program = Child.Find("redis-server")
            ?? throw new ChildFailedException("redis-server is not installed. In Debian and Ubuntu: apt-get install redis-server");
        return Child.StartAsync(
            "redis-server",
            new ProcessStartInfo(
                program,
                ["--port", port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]),
            "Ready to accept connections",
            cancellationToken);
    }
}
