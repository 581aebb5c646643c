using System.Globalization;
using System.Net;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using KestrelPeer;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

const string InlineOption = "--inline";
const string WebSocketOption = "--websocket";
bool isInline = args.Contains(InlineOption);
bool isWebSocket = args.Contains(WebSocketOption);
string[] values = [.. args.Where(static arg => arg is not InlineOption and not WebSocketOption)];
if (values.Length is not (0 or 1 or 3)
    || !ushort.TryParse(values.FirstOrDefault("0"), NumberStyles.None, CultureInfo.InvariantCulture, out ushort port))
{
    Console.Error.WriteLine(
        $"KestrelPeer: '{string.Join(' ', args)}': expected the port from 0 to 65535 (0: any free one), and for TLS the files of a "
        + $"certificate and of its key, both PEM; with {InlineOption} handlers run where the socket's events are read; with "
        + $"{WebSocketOption} frames lie in messages of a WebSocket.");
    return 2;
}

using X509Certificate2? certificate = values.Length == 3 ? X509Certificate2.CreateFromPemFile(values[1], values[2]) : null;
string scheme = (isWebSocket, certificate) switch
{
    (true, null) => "ws",
    (true, _) => "wss",
    (_, null) => "tcp",
    _ => "tls",
};

// An empty builder: no logging, no configuration files, no HTTP pipeline but that of WebSockets; Kestrel's own settings as they come.
WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
builder.WebHost.UseKestrelCore();
if (isInline)
{
    builder.WebHost.UseSockets(static sockets => sockets.UnsafePreferInlineScheduling = true);
}

builder.WebHost.ConfigureKestrel(
    kestrel => kestrel.Listen(
        IPAddress.Loopback,
        port,
        endpoint =>
        {
            if (certificate is not null)
            {
                endpoint.UseHttps(
                    new HttpsConnectionAdapterOptions { ServerCertificate = certificate, SslProtocols = SslProtocols.Tls13 });
            }

            if (!isWebSocket)
            {
                endpoint.UseConnectionHandler<EchoHandler>();
            }
        }));
builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = TimeSpan.FromSeconds(1));

await using WebApplication app = builder.Build();
if (isWebSocket)
{
    app.UseWebSockets();
    app.Run(WebSocketHandler.RunAsync);
}

try
{
    await app.StartAsync();
}
catch (IOException exception)
{
    Console.Error.WriteLine($"KestrelPeer: cannot listen on {scheme}://127.0.0.1:{port}: {exception.Message}");
    return 1;
}

string address = app.Services.GetRequiredService<IServer>().Features.GetRequiredFeature<IServerAddressesFeature>().Addresses.Single();
Console.WriteLine($"listening on {scheme}://127.0.0.1:{new Uri(address).Port}");

// Whoever started this process holds the other end of its standard input: when that goes, so does the process. A thread of its own waits
// for it, since the thread pool has one thread per core and the server needs them all.
var watcher = new Thread(() =>
{
    while (Console.In.Read() >= 0)
    {
        // What is written there does not matter.
    }

    app.Lifetime.StopApplication();
})
{
    IsBackground = true,
    Name = "standard input",
};
watcher.Start();

await app.WaitForShutdownAsync();
return 0;
