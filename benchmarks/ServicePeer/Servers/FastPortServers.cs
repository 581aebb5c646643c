using System.Runtime.CompilerServices;
using FastPort;
using FastPort.Protocol;
using ServicePeer.Contract;

namespace ServicePeer.Servers;

/// <summary>The service on FastPort's server, with the default options.</summary>
internal static class FastPortServers
{
    /// <summary>The message type of the echo without a service.</summary>
    public const ushort Numbered = 0x1100;

    public static async Task RunAsync(CancellationToken cancellation)
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add("tcp://127.0.0.1:0");
        MessageHandlers handlers = new MessageHandlers().MapService(new CallsService())
            .MapInline(Numbered, Message.Parser, static (message, _) => message);
        await using var server = new FastPortServer(options, handlers);
        await server.StartAsync(cancellation);
        Console.WriteLine($"listening on {server.Endpoints[0]}");
        await Task.Delay(Timeout.Infinite, cancellation);
    }

    private sealed class CallsService : CallsBase
    {
        public override Message Echo(Message request, Session session) => request;

        public override ValueTask<Message> EchoBegunAsync(Message request, RequestContext context) => ValueTask.FromResult(request);

        public override ValueTask<Message> EchoQueuedAsync(Message request, RequestContext context) => ValueTask.FromResult(request);

        public override IAsyncEnumerable<Message> ExchangeAsync(
            IAsyncEnumerable<Message> requests, StreamContext context, CancellationToken cancellationToken) => requests;

        public override async IAsyncEnumerable<Message> WatchAsync(
            Message request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
        {
            await Task.CompletedTask;
            while (!cancellationToken.IsCancellationRequested)
            {
                yield return request;
            }
        }
    }
}
