using System.Net;
using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>The portable transport: TCP and, except on Windows, Unix sockets, through the runtime's sockets.</summary>
public sealed class SocketTransport : ITransport
{
    private const string InlineCompletions = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    /// <summary>
    /// Makes the runtime complete socket operations on its polling threads instead of the thread pool, which saves a thread switch per
    /// burst. It applies to every socket of the process and must be called before the first one is created. If the runtime's environment
    /// variable for this is already set, it is left unchanged.
    /// <para>
    /// Unsafe because a continuation of any socket operation that blocks (an inline handler, but also code of other libraries) then stops
    /// all sockets of its polling thread. For programs that consist of FastPort only.
    /// </para>
    /// </summary>
    public static void UnsafeUseInlineCompletions()
    {
        if (Environment.GetEnvironmentVariable(InlineCompletions) is null)
        {
            Environment.SetEnvironmentVariable(InlineCompletions, "1");
        }
    }

    /// <inheritdoc/>
    public bool Supports(string scheme) => scheme == "tcp" || (scheme == "unix" && !OperatingSystem.IsWindows());

    /// <inheritdoc/>
    public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) => new SocketListener(endpoint, settings);

    /// <inheritdoc/>
    public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        return new StreamConnector(endpoint, settings, TryConnectAsync);
    }

    private static async ValueTask<Connection> TryConnectAsync(
        EndPoint address, ConnectionSettings settings, CancellationToken cancellationToken)
    {
        Socket? socket = null;
        try
        {
            // Inside the try block: creating the socket fails if the process has no free descriptors.
            socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
            SocketTuning.Prepare(socket, address, settings);
            await socket.ConnectAsync(address, cancellationToken).ConfigureAwait(false);
            SocketTuning.Apply(socket, settings);
            return new SocketConnection(socket, settings);
        }
        catch
        {
            socket?.Dispose();
            throw;
        }
    }
}
