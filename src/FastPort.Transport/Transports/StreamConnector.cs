using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports.Unix;

namespace FastPort.Transports;

/// <summary>A transport's attempt to connect to one address.</summary>
/// <param name="address">The address.</param>
/// <param name="settings">Settings of the connection.</param>
/// <param name="cancellationToken">Cancels the attempt.</param>
/// <exception cref="SocketException">The attempt failed.</exception>
/// <exception cref="OutOfMemoryException">The system provides no thread, or no memory.</exception>
internal delegate ValueTask<Connection> ConnectAttempt(EndPoint address, ConnectionSettings settings, CancellationToken cancellationToken);

/// <summary>
/// Connects over TCP or to a Unix socket; the transport makes each attempt. Host names are resolved at each call and their addresses tried
/// in turn; if one does not answer soon, the next one is tried concurrently (as in RFC 8305), and the first that connects wins.
/// </summary>
internal sealed class StreamConnector(Endpoint endpoint, ConnectionSettings settings, ConnectAttempt connect) : ITransportConnector
{
    /// <summary>The time of an address before the next one is also tried.</summary>
    internal static readonly TimeSpan HeadStart = TimeSpan.FromMilliseconds(300);

    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(100);

    public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken) =>
        await ConnectAsync(await AddressesAsync(cancellationToken).ConfigureAwait(false), cancellationToken).ConfigureAwait(false);

    /// <summary>Connects to one of the addresses.</summary>
    internal async Task<Connection> ConnectAsync(EndPoint[] addresses, CancellationToken cancellationToken)
    {
        Exception? last = null;
        List<Task<Connection>> running = [];
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        try
        {
            for (int next = 0; next < addresses.Length || running.Count != 0;)
            {
                if (next < addresses.Length)
                {
                    running.Add(ConnectAsync(addresses[next++], end.Token).AsTask());
                }

                // A cancellation does not wait for the attempts: their event loop may be blocked.
                Task<Task<Connection>> any = Task.WhenAny(running);
                TimeSpan limit = next < addresses.Length ? HeadStart : Timeout.InfiniteTimeSpan;
                await ((Task)any).WaitAsync(limit, settings.Clock.Time, cancellationToken)
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                cancellationToken.ThrowIfCancellationRequested();
                if (any.IsCompleted)
                {
                    Task<Connection> first = await any.ConfigureAwait(false);
                    running.Remove(first);
                    try
                    {
                        return await first.ConfigureAwait(false);
                    }
                    catch (Exception e) when (e is SocketException or OutOfMemoryException)
                    {
                        last = e;
                    }
                }
            }
        }
        finally
        {
            await end.CancelAsync().ConfigureAwait(false);
            foreach (Task<Connection> loser in running)
            {
                _ = loser.ContinueWith(Drop, TaskScheduler.Default);
            }
        }

        throw new EndpointException(endpoint, $"Cannot connect to {endpoint}: {Describe(last)}", last);
    }

    // A canceled attempt may have ended before. Its failure is not reported.
    private static void Drop(Task<Connection> loser)
    {
        if (loser.Exception is null && !loser.IsCanceled)
        {
            loser.Result.Abort(CloseReason.LocalClosed);
        }
    }

    private async ValueTask<Connection> ConnectAsync(EndPoint address, CancellationToken cancellationToken)
    {
        for (TimeSpan pause = FirstPause; ; pause = pause + pause < LongestPause ? pause + pause : LongestPause)
        {
            try
            {
                return await connect(address, settings, cancellationToken).ConfigureAwait(false);
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.WouldBlock && address is UnixAddress)
            {
                // The listener's backlog is full. TCP retries by itself in that case, a Unix socket does not.
                await Task.Delay(pause, settings.Clock.Time, cancellationToken).ConfigureAwait(false);
            }
        }
    }

    private async ValueTask<EndPoint[]> AddressesAsync(CancellationToken cancellationToken)
    {
        if (endpoint.Scheme == "unix")
        {
            return [UnixAddress.For(endpoint, "connect to")];
        }

        if (IPAddress.TryParse(endpoint.Host, out IPAddress? address))
        {
            return [new IPEndPoint(address, endpoint.Port)];
        }

        try
        {
            IPAddress[] found = await Dns.GetHostAddressesAsync(endpoint.Host, cancellationToken).ConfigureAwait(false);
            return [.. found.Select(one => new IPEndPoint(one, endpoint.Port))];
        }
        catch (SocketException e)
        {
            throw new EndpointException(
                endpoint, $"Cannot resolve '{endpoint.Host}' of {endpoint}: {e.Message}. Check the name or use an address.", e);
        }
    }

    private string Describe(Exception? error) => (error as SocketException)?.SocketErrorCode switch
    {
        null => error is null ? "the name has no address." : Shortage.Threads,
        SocketError.TooManyOpenSockets => Shortage.Descriptors,
        SocketError.ConnectionRefused => "nothing listens there. Is the server running?",
        SocketError.AddressNotAvailable when endpoint.Scheme == "unix" =>
            "there is no such file. Is the server running, and is this its path?",
        SocketError.AccessDenied when endpoint.Scheme == "unix" =>
            "permission denied. This program's user needs the right to write to the file (the server's UnixSocketPermissions).",
        SocketError code when endpoint.Scheme == "unix" => $"{error!.Message} ({code}).",
        _ => $"{error!.Message}.",
    };
}
