using System.Net;
using System.Net.Sockets;
using System.Text;

namespace FastPort.Transports.Unix;

/// <summary>
/// The address of a Unix socket: a file, or on Linux a name without a file (<c>@name</c>). Accepted connections have no separate address;
/// they are known by the address that they came through.
/// <para>
/// Replaces the runtime's own type for listening: with that type the runtime deletes the file when the socket is closed, even if the file
/// belongs to another program by then.
/// </para>
/// </summary>
internal sealed class UnixAddress : EndPoint
{
    // sun_path, of which a file's path needs the last byte for its end: sockaddr_un on Linux, and on macOS and the BSDs.
    private static readonly int LongestPath = OperatingSystem.IsLinux() ? 107 : 103;

    private readonly UnixDomainSocketEndPoint _native;

    private UnixAddress(string path, bool isAbstract)
    {
        Path = path;
        IsAbstract = isAbstract;
        _native = new UnixDomainSocketEndPoint(isAbstract ? '\0' + path[1..] : path);
    }

    public override AddressFamily AddressFamily => AddressFamily.Unix;

    /// <summary>The file's path, or <c>@name</c>.</summary>
    public string Path { get; }

    /// <summary>Whether it is a name without a file: nothing to remove, and no permissions.</summary>
    public bool IsAbstract { get; }

    /// <summary>The address of an endpoint that <see cref="Endpoint.TryParse"/> has accepted.</summary>
    /// <param name="endpoint">An endpoint of scheme <c>unix</c>.</param>
    /// <param name="action">What cannot be done otherwise: <c>listen on</c>, <c>connect to</c>.</param>
    /// <exception cref="EndpointException">This system has no such addresses, or the path is too long for it.</exception>
    public static UnixAddress For(Endpoint endpoint, string action)
    {
        string path = endpoint.Host;
        bool isAbstract = path.StartsWith('@');
        if (isAbstract && !OperatingSystem.IsLinux())
        {
            throw new EndpointException(
                endpoint,
                $"Cannot {action} {endpoint}: names without a file exist on Linux only. Use a path, such as unix:///tmp/fastport.sock.");
        }

        int length = Encoding.UTF8.GetByteCount(path);
        return length <= LongestPath
            ? new UnixAddress(path, isAbstract)
            : throw new EndpointException(
                endpoint,
                $"Cannot {action} {endpoint}: the path has {length} bytes, but the system allows only {LongestPath}. Choose a shorter "
                + "path, for example below /run.");
    }

    public override SocketAddress Serialize() => _native.Serialize();

    public override EndPoint Create(SocketAddress socketAddress)
    {
        EndPoint named = _native.Create(socketAddress);
        return named.ToString() is { Length: > 0 } ? named : _native;
    }

    public override string ToString() => Path;
}
