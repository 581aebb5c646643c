using System.Collections.Concurrent;
using System.Globalization;
using FastPort.Framing;
using FastPort.Transports.Epoll.Loop;

namespace FastPort.TestHost;

/// <summary>
/// A server and clients of this process over event loops, as many as there are by default. After "exchange" each client in turn sends
/// requests one by one. Prints for every line on standard input how often the loops have spun, those that have served somebody, and the
/// processor time of the process.
/// </summary>
internal static class LockStepMode
{
    private const ushort Echo = 0x1000;
    private const int Clients = 4;
    private const int Requests = 1_000;

    private static readonly ConcurrentDictionary<EpollLoop, bool> Loops = new();

    public static async Task RunAsync(int? spinMicroseconds)
    {
        var options = new FastPortServerOptions { Transport = TransportKind.Epoll, SpinMicroseconds = spinMicroseconds };
        options.Endpoints.Add("tcp://127.0.0.1:0");
        MessageHandlers handlers = new MessageHandlers().MapInline(Echo, static (ref InlineRequest request) =>
        {
            NoteLoop();
            request.Reply(new SequenceBody(request.Body));
        });
        await using var server = new FastPortServer(options, handlers);
        await server.StartAsync();
        List<FastPortClient> clients = [];
        for (int i = 0; i < Clients; i++)
        {
            var client = new FastPortClient(
                new FastPortClientOptions
                {
                    Endpoint = server.Endpoints[0].ToString(),
                    Transport = TransportKind.Epoll,
                    SpinMicroseconds = spinMicroseconds,
                });
            clients.Add(client);
            await client.ConnectAsync();
        }

        Console.WriteLine(Figures(server));
        while (Console.ReadLine() is { } line)
        {
            if (line == "exchange")
            {
                foreach (FastPortClient client in clients)
                {
                    await new Exchange(client.Session!).RunAsync();
                }
            }

            Console.WriteLine(Figures(server));
        }

        foreach (FastPortClient client in clients)
        {
            await client.DisposeAsync();
        }
    }

    private static string Figures(FastPortServer server) => string.Create(
        CultureInfo.InvariantCulture,
        $"loops={Loops.Count} spins={Loops.Keys.Sum(static l => l.Spins)} connections={server.ConnectionCount} "
        + $"cpu-us={(long)Environment.CpuUsage.TotalTime.TotalMicroseconds}");

    private static void NoteLoop() => Loops.TryAdd(EpollLoop.Current!, true);

    // Each reply sends the next request, on the client's loop.
    private sealed class Exchange(Session session) : PendingReply
    {
        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly byte[] _body = new byte[16];
        private int _left = Requests;

        public Task RunAsync()
        {
            Next();
            return _done.Task;
        }

        protected internal override void OnReply(scoped in InboundReply reply)
        {
            NoteLoop();
            if (--_left == 0)
            {
                _done.SetResult();
            }
            else
            {
                Next();
            }
        }

        protected internal override void OnFailed(RequestFailure failure, string message) =>
            _done.SetException(new InvalidOperationException(message));

        private void Next()
        {
            if (session.TryRequest(Echo, new RawBody(_body), this, timing: false, TimeSpan.Zero, out _) is not SendStatus.Queued
                and var status)
            {
                _done.TrySetException(new InvalidOperationException($"A request was not sent: {status}."));
            }
        }
    }
}
