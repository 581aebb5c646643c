using System.Net;
using System.Text;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// Which congestion control a TCP socket gets. It is set before the socket listens or connects: an accepted connection takes its
/// listener's, and one that bbr has had once is paced for good.
/// </summary>
internal static class CongestionControl
{
    // linux/tcp.h; with its terminating zero a name has at most TCP_CA_NAME_MAX bytes, 16.
    public const int TcpCongestion = 13;
    private const int LongestName = 15;

    /// <summary>
    /// For connections that never leave the machine: no timers for pacing, and it is in every Linux kernel, for every program. Without loss
    /// its window only grows.
    /// </summary>
    private const string OnLoopback = "reno";

    /// <summary>What is allowed, for the message about a value that is not.</summary>
    public static string Allowed => OperatingSystem.IsLinux()
        ? "give one of net.ipv4.tcp_allowed_congestion_control, as bbr or cubic"
        : "leave it out: only Linux lets a program choose";

    /// <summary>Whether a value can be a name; whether the system has it is known when a socket is given it.</summary>
    public static bool IsPossible(string? name) =>
        name is null
            || (OperatingSystem.IsLinux() && name.Length is > 0 and <= LongestName
                && name.All(static c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-'));

    /// <summary>The name to set on a socket that will listen at or connect to this address; empty where the system's stays.</summary>
    public static ReadOnlySpan<byte> For(EndPoint address, ConnectionSettings settings)
    {
        if (address is not IPEndPoint ip || !OperatingSystem.IsLinux())
        {
            return default;
        }

        string? name = settings.CongestionControl ?? (IPAddress.IsLoopback(ip.Address) ? OnLoopback : null);
        return name is null ? default : Encoding.ASCII.GetBytes(name);
    }

    /// <summary>
    /// The socket did not take the name. Null where it was loopback's default, which can be done without; else what to tell the user.
    /// </summary>
    public static EndpointException? Refused(EndPoint address, ConnectionSettings settings)
    {
        if (settings.CongestionControl is not { } name)
        {
            return null;
        }

        var endpoint = Endpoint.Parse($"tcp://{address}");
        return new EndpointException(
            endpoint,
            $"Cannot use CongestionControl '{name}' for {endpoint}: this system does not have it or does not allow it. It allows "
            + $"{AllowedHere()}.");
    }

    private static string AllowedHere()
    {
        const string Path = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
        try
        {
            return string.Join(", ", File.ReadAllText(Path).Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return $"what {Path} says";
        }
    }
}
