using FastPort.Protocol;
using FastPort.Tests.Browser;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Interop.Tests.Browser;

/// <summary>A page that connects to a server from a real browser: its origin decides.</summary>
public sealed class WebSocketPageTests(Chromium chromium) : IClassFixture<Chromium>
{
    // Sends an Echo of one byte in two messages, and resolves with the reply's body, or with the close code.
    private const string Echo =
        """
        url => new Promise(resolve => {
          const socket = new WebSocket(url, 'fastport.v1');
          socket.binaryType = 'arraybuffer';
          window.socketClosed = new Promise(end => { socket.onclose = e => { end([e.code, e.wasClean]); resolve('closed ' + e.code); }; });
          let received = [];
          socket.onmessage = e => {
            received = [...received, ...new Uint8Array(e.data)];
            if (received.length === 15) resolve('body ' + received.slice(12));
          };
          socket.onopen = () => {
            socket.send(new Uint8Array([11, 0, 0]));
            socket.send(new Uint8Array([0, 0, 1, 0, 1, 7, 0, 0, 0, 10, 1, 42]));
          };
        })
        """;

    // Sends Echoes of this many bytes of text, one after the other, and resolves with the extensions when all replies are right.
    private const string EchoText =
        """
        async ([url, sizes]) => {
          const socket = new WebSocket(url, 'fastport.v1');
          socket.binaryType = 'arraybuffer';
          const closed = new Promise(resolve => socket.onclose = e => resolve('closed ' + e.code));
          if (await Promise.race([closed, new Promise(resolve => socket.onopen = resolve)]) === 'closed 1006') return 'not opened';
          for (const size of sizes) {
            const text = new TextEncoder().encode('the quick brown fox '.repeat(size).slice(0, size));
            const length = [];
            for (let left = size; left !== 0 || length.length === 0; left >>= 7) length.push((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
            const head = [0, 0, 0, 0, 0, 1, 0, 1, 7, 0, 0, 0, 10, ...length];
            const frame = new Uint8Array(head.length + size);
            frame.set(head);
            frame.set(text, head.length);
            new DataView(frame.buffer).setUint32(0, frame.length - 4, true);
            let count = 0;
            const received = new Uint8Array(frame.length);
            const answer = new Promise(resolve => {
              socket.onmessage = e => {
                received.set(new Uint8Array(e.data), count);
                count += e.data.byteLength;
                if (count === frame.length) resolve();
              };
              socket.send(frame);
            });
            const end = await Promise.race([closed, answer]);
            if (end) return `${end} at ${size}, after ${count} of ${frame.length} bytes`;
            if (frame.some((byte, i) => i >= 12 && byte !== received[i])) return 'wrong at ' + size;
          }
          return socket.extensions;
        }
        """;

    [BrowserTheory]
    [InlineData(true, "permessage-deflate")]
    [InlineData(false, "")]
    public async Task A_page_compresses_where_the_server_does(bool compresses, string extensions)
    {
        await using FastPortServer server = await StartAsync(options => options.WebSocket.Compression = compresses);
        IPage page = await OpenAsync(server, "127.0.0.1");
        object[] sizes = [10, 1000, 200_000, 1000];

        Assert.Equal(extensions, await page.EvaluateAsync<string>(EchoText, new object[] { $"{server.Endpoints[0]}", sizes }));
        await page.CloseAsync();
    }

    [BrowserFact]
    public async Task A_page_of_the_same_host_calls_the_server_and_sees_why_it_ends()
    {
        await using FastPortServer server = await StartAsync();
        IPage page = await OpenAsync(server, "127.0.0.1");

        Assert.Equal("body 10,1,42", await page.EvaluateAsync<string>(Echo, $"{server.Endpoints[0]}"));
        await server.StopAsync();

        Assert.Equal("[1001,true]", await page.EvaluateAsync<string>("async () => JSON.stringify(await window.socketClosed)"));
        await page.CloseAsync();
    }

    [BrowserFact]
    public async Task A_page_of_another_host_connects_only_if_its_origin_is_allowed()
    {
        await using FastPortServer strict = await StartAsync();
        IPage page = await OpenAsync(strict, "localhost");
        await using FastPortServer open = await StartAsync(
            options => options.WebSocket.AllowedOrigins.Add($"http://localhost:{strict.Endpoints[0].Port}"));

        Assert.Equal("closed 1006", await page.EvaluateAsync<string>(Echo, $"{strict.Endpoints[0]}"));
        Assert.Equal("body 10,1,42", await page.EvaluateAsync<string>(Echo, $"{open.Endpoints[0]}"));
        await page.CloseAsync();
    }

    private static async Task<FastPortServer> StartAsync(Action<FastPortServerOptions>? configure = null)
    {
        var options = new FastPortServerOptions { Endpoints = { "ws://127.0.0.1:0/game" } };
        configure?.Invoke(options);
        var server = new FastPortServer(options, new MessageHandlers().MapDiagnostics());
        await server.StartAsync();
        return server;
    }

    // Any page will do. A server's answer to a plain request is one, of the server's own host.
    private async Task<IPage> OpenAsync(FastPortServer server, string host)
    {
        IPage page = await chromium.Browser.NewPageAsync();
        IResponse? response = await page.GotoAsync($"http://{host}:{server.Endpoints[0].Port}/game");
        Assert.Equal(426, response!.Status);
        return page;
    }
}
