using System.Globalization;
using FastPort.Framing;

namespace FastPort.TestHost;

/// <summary>
/// Requests, and one-way messages both ways, between a server and a client of this process, and what each message allocated: the least of
/// several rounds.
/// </summary>
internal static class LinkMode
{
    private const ushort Echo = 0x1000;
    private const ushort Post = 0x1001;
    private const ushort Back = 0x1002;
    private const int Bytes = 64_000_000;
    private const int MaxRequests = 10_000;
    private const int Rounds = 5;

    public static async Task RunAsync(string endpoint, int size)
    {
        int requests = Math.Min(MaxRequests, Bytes / size);
        byte[] body = new byte[size];
        var options = new FastPortServerOptions { Transport = TransportUnderTest.Kind };
        options.Endpoints.Add(endpoint);
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(Echo, (ref InlineRequest request) =>
            {
                Exchange.SendPosts(request.Session, Back, body);
                request.Reply(new SequenceBody(request.Body));
            })
            .MapInline(Post, static (ref InlineRequest _) => { });
        await using var server = new FastPortServer(options, handlers);
        await server.StartAsync();
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString(), Transport = TransportUnderTest.Kind },
            new MessageHandlers().MapInline(Back, static (ref InlineRequest _) => { }));
        await client.ConnectAsync();
        var exchange = new Exchange(client.Session!, body);
        await exchange.RunAsync(requests);
        double least = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            long before = GC.GetTotalAllocatedBytes(precise: true);
            await exchange.RunAsync(requests);
            least = Math.Min(least, (GC.GetTotalAllocatedBytes(precise: true) - before) / (double)(requests * Exchange.Messages));
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"thousandths={least * 1000:0}"));
    }

    // Each reply sends some one-way messages and the next request, each request as many one-way messages back and the reply, on the loop.
    private sealed class Exchange(Session session, byte[] body) : PendingReply
    {
        public const int Messages = 2 * (Posts + 1);

        private const int Posts = 9;

        private TaskCompletionSource _done = null!;
        private int _left;

        public Task RunAsync(int requests)
        {
            _done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _left = requests;
            Next();
            return _done.Task;
        }

        public static void SendPosts(Session session, ushort type, byte[] body)
        {
            for (int i = 0; i < Posts; i++)
            {
                Check(i % 3 == 0 ? session.TrySendBorrowed(type, body) : session.TrySend(type, body));
            }
        }

        protected internal override void OnReply(scoped in InboundReply reply)
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

        protected internal override void OnFailed(RequestFailure failure, string message) =>
            _done.SetException(new InvalidOperationException(message));

        private void Next()
        {
            using FlushDeferral deferral = session.DeferFlush();
            SendPosts(session, Post, body);
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
