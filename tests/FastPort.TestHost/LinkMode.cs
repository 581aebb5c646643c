using System.Globalization;
using FastPort.Clients;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Hosting;
using FastPort.Sessions;

namespace FastPort.TestHost;

/// <summary>Requests and one-way messages over a link within this process, and what each of them allocated: the least of several rounds.</summary>
internal static class LinkMode
{
    private const ushort Echo = 0x1000;
    private const ushort Post = 0x1001;
    private const int Requests = 50_000;
    private const int Rounds = 5;

    public static async Task RunAsync(int size)
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add("inproc://allocations");
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(Echo, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)))
            .MapInline(Post, static (ref InlineRequest _) => { });
        await using var server = new FastPortServer(options, handlers);
        await server.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = "inproc://allocations" });
        await client.ConnectAsync();
        var exchange = new Exchange(client.Session!, new byte[size]);
        await exchange.RunAsync(Requests);
        double least = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            long before = GC.GetTotalAllocatedBytes(precise: true);
            await exchange.RunAsync(Requests);
            least = Math.Min(least, (GC.GetTotalAllocatedBytes(precise: true) - before) / (double)(Requests * (Exchange.Posts + 1)));
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"thousandths={least * 1000:0}"));
    }

    // Each reply sends some one-way messages and the next request, on the loop.
    private sealed class Exchange(Session session, byte[] body) : PendingReply
    {
        public const int Posts = 9;

        private TaskCompletionSource _done = null!;
        private int _left;

        public Task RunAsync(int requests)
        {
            _done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _left = requests;
            Next();
            return _done.Task;
        }

        protected override void OnReply(scoped in InboundReply reply)
        {
            if (--_left == 0)
            {
                _done.SetResult();
            }
            else
            {
                Next();
            }
        }

        protected override void OnFailed(RequestFailure failure, string message) => _done.SetException(new InvalidOperationException(message));

        private void Next()
        {
            using SendBurst burst = session.BeginBurst();
            for (int i = 0; i < Posts; i++)
            {
                Check(i % 3 == 0 ? session.TrySendBorrowed(Post, body) : session.TrySend(Post, body));
            }

            Check(session.TryRequest(Echo, new RawBody(body), this, timing: false, TimeSpan.Zero, out _));
        }

        private static void Check(SendStatus status)
        {
            if (status != SendStatus.Queued)
            {
                throw new InvalidOperationException($"A message was not sent: {status}.");
            }
        }
    }
}
