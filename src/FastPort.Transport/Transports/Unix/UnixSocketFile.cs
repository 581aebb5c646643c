using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Unix;

/// <summary>
/// The file of a listening Unix socket, from before its creation until its removal. The owner calls, in this order: <see cref="Prepare"/>,
/// its own bind, <see cref="AfterBind"/>, its own listen, <see cref="AfterListen"/>; and <see cref="Remove"/> while the socket is still
/// open. For a name without a file all of these do nothing, except that <see cref="Prepare"/> refuses permissions. Not thread-safe.
/// <para>
/// Permissions: a socket that is bound but does not listen yet refuses every connection, regardless of its permissions. They are set
/// between bind and listen, so no client connects before.
/// </para>
/// <para>
/// The file's identity shows whether it is ours, and an open socket keeps its file's number from being reused: so a file that has replaced
/// ours is never removed.
/// </para>
/// <para>
/// On systems other than Linux an existing file is always left alone. There a listener with a full backlog refuses connections just as a
/// file without a listener does (Linux returns EAGAIN), so a probe cannot tell a stale file from that of a busy server, and removing the
/// latter would displace the server for good.
/// </para>
/// </summary>
internal sealed class UnixSocketFile
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private readonly Endpoint _endpoint;
    private readonly UnixFileMode? _permissions;
    private FileIdentity? _ours;
    private bool _bound;

    /// <param name="endpoint">An endpoint of scheme <c>unix</c>.</param>
    /// <param name="settings">The settings with the permissions.</param>
    /// <exception cref="EndpointException">The system has no such address, or the path is too long for it.</exception>
    public UnixSocketFile(Endpoint endpoint, ConnectionSettings settings)
    {
        _endpoint = endpoint;
        _permissions = settings.UnixSocketPermissions;
        Address = UnixAddress.For(endpoint, "listen on");
    }

    /// <summary>Where to bind.</summary>
    public UnixAddress Address { get; }

    /// <summary>Prepares the bind: removes a socket file at which no program listens any more.</summary>
    /// <exception cref="EndpointException">
    /// The path is in use, or is a file that must not be removed, or its directory is missing.
    /// </exception>
    public void Prepare()
    {
        if (Address.IsAbstract)
        {
            if (_permissions is not null)
            {
                throw Refuse(
                    "a name without a file has no permissions; anyone on this machine may connect. Use a path, or leave "
                    + "UnixSocketPermissions out.");
            }

            return;
        }

        string? directory = Path.GetDirectoryName(Address.Path);
        if (!Directory.Exists(directory))
        {
            throw Refuse($"there is no directory '{directory}'. Create it, or choose another path.");
        }

        if (FileIdentity.TryRead(Address.Path) is { } found)
        {
            RemoveStale(found);
        }
        else if (!OperatingSystem.IsLinux() && Path.Exists(Address.Path))
        {
            throw Refuse("the file already exists. Remove it if no program listens there.");
        }
    }

    /// <summary>Sets the permissions. Between bind and listen.</summary>
    /// <exception cref="EndpointException">They cannot be set; the file is removed.</exception>
    public void AfterBind()
    {
        _bound = true;
        if (Address.IsAbstract || OperatingSystem.IsWindows())
        {
            return;
        }

        _ours = FileIdentity.TryRead(Address.Path);
        try
        {
            File.SetUnixFileMode(Address.Path, _permissions ?? OwnerOnly);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            Remove();
            throw Refuse($"its permissions cannot be set: {e.Message}", e);
        }
    }

    /// <summary>
    /// Makes sure that the file is still the one that was bound: two programs that remove the same stale file at the same time both get
    /// here.
    /// </summary>
    /// <exception cref="EndpointException">Another program has taken the path.</exception>
    public void AfterListen()
    {
        if (!Address.IsAbstract && FileIdentity.TryRead(Address.Path) != _ours)
        {
            throw Refuse("another program took the path at the same moment. Start again, or choose another path.");
        }
    }

    /// <summary>
    /// Removes the file if it is still ours. Before the socket is closed: as long as it listens, no other program considers the file stale.
    /// Never throws; a file that cannot be removed is a stale one for the next start.
    /// </summary>
    public void Remove()
    {
        if (!_bound || Address.IsAbstract || FileIdentity.TryRead(Address.Path) != _ours)
        {
            return;
        }

        _bound = false;
        try
        {
            File.Delete(Address.Path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The file stays and is stale for the next start.
        }
    }

    private void RemoveStale(FileIdentity found)
    {
        if (!found.IsSocket)
        {
            throw Refuse("the path is a file that is not a socket, so it is not removed. Move it away, or choose another path.");
        }

        switch (Probe())
        {
            case SocketError.ConnectionRefused:
                break;
            case SocketError.AddressNotAvailable:
                // The file was removed in the meantime.
                return;
            case SocketError.AccessDenied:
                throw Refuse("this program's user may not connect to this socket. Remove the file if no program listens there.");
            default:
                throw Refuse("it is in use. Stop the program that listens there, or choose another path.");
        }

        if (FileIdentity.TryRead(Address.Path) != found)
        {
            throw Refuse("it is in use: another program took the path just now. Stop that program, or choose another path.");
        }

        try
        {
            File.Delete(Address.Path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refuse($"the socket file that an earlier program left there cannot be removed: {e.Message}", e);
        }
    }

    // Non-blocking: a busy listener returns an error other than "refused", which shows that it listens.
    private SocketError Probe()
    {
        using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified) { Blocking = false };
        try
        {
            socket.Connect(Address);
            return SocketError.Success;
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode;
        }
    }

    private EndpointException Refuse(string why, Exception? inner = null) => new(_endpoint, $"Cannot listen on {_endpoint}: {why}", inner);
}
