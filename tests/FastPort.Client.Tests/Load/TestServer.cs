using System.Buffers;
using FastPort.Protocol;

namespace FastPort.Client.Tests.Load;

/// <summary>Servers on ports that the system chooses, and an echo handler that counts.</summary>
internal static class TestServer
{
    public static async Task<FastPortServer> StartAsync(
        MessageHandlers handlers, string endpoint = "tcp://127.0.0.1:0", Action<FastPortServerOptions>? configure = null)
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add(endpoint);
        configure?.Invoke(options);
        var server = new FastPortServer(options, handlers);
        await server.StartAsync();
        return server;
    }

    public static string Uri(this FastPortServer server) => server.Endpoints[0].ToString();

    /// <summary>Echoes the body's bytes as they are, telling of each message before it is answered.</summary>
    public static MessageHandlers RawEcho(Action? onMessage = null) => new MessageHandlers().MapInline(
        DiagnosticType.Echo,
        (ref InlineRequest request) =>
        {
            onMessage?.Invoke();
            request.Reply(new SequenceEcho(request.Body));
        });

    public static MessageHandlers Answer(byte[] body) =>
        new MessageHandlers().MapInline(DiagnosticType.Echo, (ref InlineRequest request) => request.Reply(body));

    private readonly struct SequenceEcho(ReadOnlySequence<byte> body) : FastPort.Framing.IFrameBody
    {
        public int Size => (int)body.Length;

        public void Write(Span<byte> destination) => body.CopyTo(destination);
    }
}
