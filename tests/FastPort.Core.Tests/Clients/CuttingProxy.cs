using System.Net;
using System.Net.Sockets;

namespace FastPort.Core.Tests.Clients;

/// <summary>
/// A TCP proxy that loses connections on demand: at once, or after an exact number of bytes in one direction, with a reset or an orderly
/// end.
/// </summary>
internal sealed class CuttingProxy : IAsyncDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly EndPoint _target;
    private readonly Lock _gate = new();
    private readonly List<Link> _links = [];
    private readonly Task _accepting;
    private int _accepted;

    private readonly Func<int, Cut?> _plan;

    /// <param name="targetPort">Where to connect to.</param>
    /// <param name="plan">How the connection with this number (from 0) is lost; null for not. Defaults to none.</param>
    public CuttingProxy(int targetPort, Func<int, Cut?>? plan = null)
    {
        _plan = plan ?? (static _ => null);
        _target = new IPEndPoint(IPAddress.Loopback, targetPort);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(128);
        _accepting = AcceptAsync();
    }

    public string Endpoint => $"tcp://127.0.0.1:{((IPEndPoint)_listener.LocalEndPoint!).Port}";

    public int Accepted => Volatile.Read(ref _accepted);

    /// <summary>While true, new connections are closed at once.</summary>
    public bool Refuses { get; set; }

    /// <summary>Resets every connection there is.</summary>
    public void CutAll()
    {
        Link[] links;
        lock (_gate)
        {
            links = [.. _links];
        }

        foreach (Link link in links)
        {
            link.Lose(withReset: true);
        }
    }

    public async ValueTask DisposeAsync()
    {
        _listener.Dispose();
        CutAll();
        await _accepting.InTimeAsync();
    }

    private async Task AcceptAsync()
    {
        while (true)
        {
            Socket client;
            try
            {
                client = await _listener.AcceptAsync();
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                return;
            }

            Cut? cut = _plan(Interlocked.Increment(ref _accepted) - 1);
            var server = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            try
            {
                if (Refuses)
                {
                    throw new SocketException((int)SocketError.ConnectionRefused);
                }

                await server.ConnectAsync(_target);
            }
            catch (SocketException)
            {
                client.Dispose();
                server.Dispose();
                continue;
            }

            client.NoDelay = server.NoDelay = true;
            var link = new Link(client, server);
            lock (_gate)
            {
                _links.Add(link);
            }

            _ = link.PumpAsync(client, server, cut is { TowardsServer: true } ? cut.AfterBytes : long.MaxValue, cut?.WithReset ?? true);
            _ = link.PumpAsync(server, client, cut is { TowardsServer: false } ? cut.AfterBytes : long.MaxValue, cut?.WithReset ?? true);
        }
    }

    private sealed class Link(Socket client, Socket server)
    {
        public async Task PumpAsync(Socket from, Socket to, long cutAfter, bool withReset)
        {
            byte[] buffer = new byte[16 * 1024];
            long passed = 0;
            try
            {
                while (true)
                {
                    int count = await from.ReceiveAsync(buffer);
                    if (count == 0)
                    {
                        to.Shutdown(SocketShutdown.Send);
                        return;
                    }

                    int pass = (int)Math.Min(count, cutAfter - passed);
                    for (int sent = 0; sent < pass;)
                    {
                        sent += await to.SendAsync(buffer.AsMemory(sent, pass - sent));
                    }

                    passed += pass;
                    if (passed == cutAfter)
                    {
                        Lose(withReset);
                        return;
                    }
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                Lose(withReset: true);
            }
        }

        public void Lose(bool withReset)
        {
            foreach (Socket socket in (Socket[])[client, server])
            {
                try
                {
                    if (withReset)
                    {
                        socket.LingerState = new LingerOption(enable: true, seconds: 0);
                    }
                    else
                    {
                        socket.Shutdown(SocketShutdown.Send);
                    }
                }
                catch (Exception e) when (e is SocketException or ObjectDisposedException)
                {
                    // Lost already.
                }

                socket.Dispose();
            }
        }
    }
}

/// <summary>How a connection is lost: after exactly so many bytes in one direction.</summary>
internal sealed record Cut(long AfterBytes, bool TowardsServer, bool WithReset);
