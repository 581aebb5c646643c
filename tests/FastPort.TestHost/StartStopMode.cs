using System.Net;
using System.Net.Sockets;
using FastPort.Framing;

namespace FastPort.TestHost;

/// <summary>Starts and stops a server with peers in every state, again and again, and prints the figures before and after.</summary>
internal static class StartStopMode
{
    private const int WarmUp = 60;

    public static async Task RunAsync(int rounds)
    {
        using var rented = new RentedArrays();
        for (int i = 0; i < WarmUp; i++)
        {
            await RunOnceAsync(i);
        }

        Console.WriteLine(ProcessFigures.Read(rented));
        for (int i = 0; i < rounds; i++)
        {
            await RunOnceAsync(i);
        }

        Console.WriteLine(ProcessFigures.Read(rented));
    }

    private static async Task RunOnceAsync(int round)
    {
        var options = new FastPortServerOptions { ShutdownGrace = TimeSpan.Zero, Transport = TransportUnderTest.Kind };
        options.Endpoints.Add("tcp://127.0.0.1:0");
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(0x1000, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)))
            .MapQueued(0x1001, static async context =>
            {
                await Task.Yield();
                context.Reply(context.Body.Span);
            });
        var server = new FastPortServer(options, handlers);
        await server.StartAsync();
        var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = server.Endpoints[0].ToString(),
            Transport = TransportUnderTest.Kind,
        });
        await client.ConnectAsync();
        await client.RequestAsync(0x1000, new byte[100]);
        await client.RequestAsync(0x1001, new byte[100]);

        // A peer in the middle of a frame: its ring holds an array when the server stops.
        using var peer = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await peer.ConnectAsync(new IPEndPoint(IPAddress.Loopback, server.Endpoints[0].Port));
        byte[] part = new byte[500];
        new FrameHeader(5000, 0x1000, FrameFlags.None, FrameHeader.CurrentVersion, 1).Write(part);
        await peer.SendAsync(part);

        // The client goes first, the server goes first, or both at the same time.
        switch (round % 3)
        {
            case 0:
                await client.CloseAsync();
                peer.Dispose();
                await server.StopAsync();
                break;
            case 1:
                Task stopping = server.StopAsync();
                peer.Dispose();
                await stopping;
                await client.CloseAsync();
                break;
            default:
                peer.Dispose();
                await Task.WhenAll(server.StopAsync(), client.CloseAsync());
                break;
        }
    }
}
