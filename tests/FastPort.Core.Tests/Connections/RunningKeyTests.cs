using System.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>
/// A filter for which the order of writes matters, on both ends of every link: servers and clients talk through a key stream that runs on
/// with every byte.
/// </summary>
public sealed class RunningKeyTests : IDisposable
{
    private const ushort Push = 0x1001;
    private const ushort Queued = 0x1002;
    private const uint ToServer = 17;
    private const uint ToClient = 4711;

    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Theory, EveryLink]
    public async Task Replies_of_the_loop_and_of_other_threads_and_pushes_of_all_kinds_share_a_key_stream(string link)
    {
        const int Pushes = 300;
        int next = 0;
        int wrong = 0;
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        MessageHandlers pushes = new MessageHandlers().MapInline(Push, (ref InlineRequest request) =>
        {
            wrong += request.Body.ToArray().AsSpan().SequenceEqual(Body(next)) ? 0 : 1;
            if (++next == Pushes)
            {
                all.SetResult();
            }
        });
        await using TestServer server = await TestServer.StartAsync(
            static handlers => handlers.MapQueued(Queued, static context =>
            {
                context.Reply(context.Body.Span);
                return ValueTask.CompletedTask;
            }),
            options =>
            {
                options.Endpoints.Clear();
                options.Endpoints.Add(Links.Get(link).Uri(_directory));
            },
            components => components.Transports.Add(Filtered(link)));
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = server.Endpoint.ToString() }, pushes, transport: Filtered(link));
        await client.ConnectAsync(Patience.Token);
        Session session = await server.SessionAsync();

        Task pushing = Task.Run(async () =>
        {
            for (int i = 0; i < Pushes;)
            {
                SendStatus status = Send(session, i);
                i += status == SendStatus.Queued ? 1 : 0;
                Assert.True(
                    status is SendStatus.Queued or SendStatus.Full,
                    $"Push {i}: {status}; {(session.Closed.IsCompleted ? session.Closed.Result : null)}");
                await session.WhenWritableAsync(Patience.Token);
            }
        });
        Task[] asking = [.. Enumerable.Range(0, 6).Select(thread => Task.Run(async () =>
        {
            for (int i = 0; i < 200; i++)
            {
                byte[] body = Wire.Bytes((i * 37) % 3_000, thread);
                Assert.Equal(body, await client.RequestAsync(thread % 2 == 0 ? TestServer.Echo : Queued, body).InTimeAsync());
            }
        }))];

        await Task.WhenAll([pushing, .. asking]).InTimeAsync();
        await all.Task.InTimeAsync();
        Assert.Equal(0, wrong);
        Assert.Empty(server.Closed);
    }

    private static SendStatus Send(Session session, int i)
    {
        byte[] body = Body(i);
        switch (i % 3)
        {
            case 0:
                return session.TrySend(Push, body);
            case 1:
                var lent = new BorrowedBuffer(body);
                return session.TrySendBorrowed(Push, lent.Bytes, BorrowedBuffer.Release, lent);
            default:
                using (SendBatch batch = session.BeginBatch())
                {
                    return batch.TrySend(Push, body);
                }
        }
    }

    private static byte[] Body(int i) => Wire.Bytes(i % 10 == 0 ? 20_000 + i : i % 300, i);

    private static FilterTransport Filtered(string link) => new(Links.Get(link).CreateTransport(), static (connection, accepted) => accepted
        ? new FilterConnection(connection, new RunningKey(ToServer), new RunningKey(ToClient))
        : new FilterConnection(connection, new RunningKey(ToClient), new RunningKey(ToServer)));
}
