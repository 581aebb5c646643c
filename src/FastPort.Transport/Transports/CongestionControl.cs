using System.Net;
using System.Text;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// The congestion control of a TCP socket. It is set before the socket listens or connects: an accepted connection inherits its listener's,
/// and a connection that has used bbr stays paced.
/// </summary>
internal static class CongestionControl
{
    // linux/tcp.h; with its terminating zero a name has at most TCP_CA_NAME_MAX bytes, 16.
    public const int TcpCongestion = 13;
    private const int LongestName = 15;

    /// <summary>
    /// For connections within the machine: no pacing timers, and available to every program in every Linux kernel. Without loss its window
    /// only grows.
    /// </summary>
    private const string OnLoopback = "reno";

    /// <summary>The allowed values, for the message about a wrong one.</summary>
    public static string Allowed => OperatingSystem.IsLinux()
        ? "give one of net.ipv4.tcp_allowed_congestion_control, such as bbr or cubic"
        : "leave it out: only Linux lets programs choose one";

    /// <summary>Whether a value can be a name. Whether the system has it shows only when it is set on a socket.</summary>
    public static bool IsPossible(string? name) =>
        name is null
            || (OperatingSystem.IsLinux() && name.Length is > 0 and <= LongestName
                && name.All(static c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-'));

    /// <summary>The name to set on a socket for this address; empty to keep the system's default.</summary>
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
    /// The socket refused the name. Null if it was the default for loopback, which is optional; otherwise the message for the user.
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
