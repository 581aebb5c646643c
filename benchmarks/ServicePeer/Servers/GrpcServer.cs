using System.Net;
using Grpc.Core;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using ServicePeer.Contract;

namespace ServicePeer.Servers;

/// <summary>Grpc.AspNetCore on Kestrel, HTTP/2 without TLS.</summary>
internal static class GrpcServer
{
    public static async Task RunAsync(CancellationToken cancellation)
    {
        // A slim builder without its logging: what is compared is the calls.
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.WebHost.UseKestrelCore();
        builder.WebHost.ConfigureKestrel(
            static kestrel => kestrel.Listen(IPAddress.Loopback, 0, static endpoint => endpoint.Protocols = HttpProtocols.Http2));
        builder.Services.AddRouting();
        builder.Services.AddGrpc();
        await using WebApplication app = builder.Build();
        app.MapGrpcService<CallsService>();
        await app.StartAsync(cancellation);
        string address =
            app.Services.GetRequiredService<IServer>().Features.GetRequiredFeature<IServerAddressesFeature>().Addresses.Single();
        Console.WriteLine($"listening on tcp://127.0.0.1:{new Uri(address).Port}");
        await Task.Delay(Timeout.Infinite, cancellation);
    }

    private sealed class CallsService : Contract.Calls.CallsBase
    {
        public override Task<Message> Echo(Message request, ServerCallContext context) => Task.FromResult(request);

        public override async Task Exchange(
            IAsyncStreamReader<Message> requestStream, IServerStreamWriter<Message> responseStream, ServerCallContext context)
        {
            await foreach (Message message in requestStream.ReadAllAsync(context.CancellationToken))
            {
                await responseStream.WriteAsync(message);
            }
        }

        public override async Task Watch(Message request, IServerStreamWriter<Message> responseStream, ServerCallContext context)
        {
            while (!context.CancellationToken.IsCancellationRequested)
            {
                await responseStream.WriteAsync(request);
            }
        }
    }
}
