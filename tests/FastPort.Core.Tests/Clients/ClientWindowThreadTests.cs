using System.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using Xunit;

namespace FastPort.Core.Tests.Clients;

/// <summary>What the thread of a window waits for, such as in its Closing event, does not need that thread.</summary>
public sealed class ClientWindowThreadTests
{
    private const ushort Queued = 0x1001;

    [Theory]
    [InlineData("tcp://127.0.0.1:0", TransportKind.Epoll)]
    [InlineData("tcp://127.0.0.1:0", TransportKind.Sockets)]
    [InlineData("tls://127.0.0.1:0", TransportKind.Epoll)]
    [InlineData("tls://127.0.0.1:0", TransportKind.Sockets)]
    [InlineData("inproc://window", TransportKind.Auto)]
    public async Task Client_and_server_start_work_and_stop_while_it_waits(string endpoint, TransportKind transport)
    {
        if (transport == TransportKind.Epoll && !OperatingSystem.IsLinux())
        {
            Assert.Skip("Epoll is Linux's.");
        }

        bool isEncrypted = endpoint.StartsWith("tls", StringComparison.Ordinal);
        var options = new FastPortServerOptions { Endpoints = { endpoint }, Transport = transport, Routing = { Topics = true } };
        var clientOptions = new FastPortClientOptions { Transport = transport };
        if (isEncrypted)
        {
            options.Tls.CertificateFile = TlsFiles.Server.CertificateFile;
            clientOptions.Tls.AuthorityFile = TlsFiles.Client.AuthorityFile;
        }

        MessageHandlers handlers = new MessageHandlers()
            .MapInline(TestServer.Echo, static (ref InlineRequest request) => request.Reply(request.Body.ToArray()))
            .MapQueued(Queued, static context =>
            {
                context.Reply(context.Body.Span);
                return default;
            });

        await WindowThread.RunAsync(() =>
        {
            var server = new FastPortServer(options, handlers);
            Wait(server.StartAsync());
            clientOptions.Endpoint = server.Endpoints[0].ToString();
            var client = new FastPortClient(clientOptions);
            Wait(client.ConnectAsync());
            Wait(client.RequestAsync(TestServer.Echo, new byte[1]));
            Wait(client.RequestAsync(Queued, new byte[1]));
            Wait(client.SendAsync(TestServer.Echo, new byte[1]).AsTask());
            Wait(client.TrySendAsync(TestServer.Echo, new byte[1]).AsTask());
            Wait(client.SubscribeAsync("plant/", static (scoped in _) => { }));
            Wait(client.PublishAsync("plant/1", 1, new byte[1]));
            Wait(client.UnsubscribeAsync("plant/"));
            Wait(client.Session!.WhenWritableAsync());
            Wait(client.CloseAsync());
            Wait(client.DisposeAsync().AsTask());
            Wait(server.StopAsync());
            Wait(server.DisposeAsync().AsTask());
        });
    }

    [Fact]
    public async Task Connecting_fails_while_it_waits() => await WindowThread.RunAsync(() =>
    {
        using var port = new HeldPort();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = $"tcp://127.0.0.1:{port.Number}" });
        Assert.Throws<EndpointException>(() => Wait(client.ConnectAsync()));
        Wait(client.DisposeAsync().AsTask());
    });

    private static void Wait(Task task) => task.GetAwaiter().GetResult();
}
