using System.Runtime.CompilerServices;
using FastPort;
using FastPort.Protocol;
using ServicePeer.Contract;

namespace ServicePeer.Servers;

/// <summary>The service on FastPort's server, with the default options.</summary>
internal static class FastPortServers
{
    public static async Task RunAsync(CancellationToken cancellation)
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add("tcp://127.0.0.1:0");
        await using var server = new FastPortServer(options, new MessageHandlers().MapService(new CallsService()));
        await server.StartAsync(cancellation);
        Console.WriteLine($"listening on {server.Endpoints[0]}");
        await Task.Delay(Timeout.Infinite, cancellation);
    }

    private sealed class CallsService : CallsBase
    {
        public override Message Echo(Message request, Session session) => request;

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
