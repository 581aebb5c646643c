using System.Text;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>Loops bound to cores, seen from a handler that runs on one.</summary>
public sealed class PinningTests
{
    private const ushort WhereAmI = 0x1100;

    [LinuxTheory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_loop_may_use_one_core_where_that_was_asked_for(bool pinned)
    {
        await using TestServer server = await TestServer.StartAsync(
            static handlers =>
                handlers.MapInline(WhereAmI, static (ref InlineRequest request) => request.Reply(Encoding.UTF8.GetBytes(AllowedCores()))),
            options =>
            {
                options.Transport = TransportKind.Epoll;
                options.Loops = 1;
                options.PinLoops = pinned;
            });
        using RawPeer peer = await server.ConnectKnownAsync();

        string cores = Encoding.UTF8.GetString((await peer.CallAsync(Wire.Request(WhereAmI, 7))).Body);

        string[] all = AllowedCores().Split(',', '-');
        Assert.Equal(pinned ? all[0] : AllowedCores(), cores);
    }

    [LinuxTheory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_loop_of_clients_does_so_too(bool pinned)
    {
        string? cores = null;
        await using TestServer server = await TestServer.StartAsync(
            static handlers =>
                handlers.MapInline(WhereAmI, static (ref InlineRequest request) => request.Session.TrySend(WhereAmI, Array.Empty<byte>())));
        await using var client = new FastPortClient(
            new FastPortClientOptions
            {
                Endpoint = server.Endpoint.ToString(),
                Transport = TransportKind.Epoll,
                Loops = 1,
                PinLoops = pinned,
            },
            new MessageHandlers().MapInline(WhereAmI, (ref InlineRequest _) => Volatile.Write(ref cores, AllowedCores())));
        await client.ConnectAsync();

        await client.Session!.SendAsync(WhereAmI, Array.Empty<byte>());

        await Patience.UntilAsync(() => Volatile.Read(ref cores) is not null, "the server's message came");
        Assert.Equal(pinned ? AllowedCores().Split(',', '-')[0] : AllowedCores(), cores);
    }

    // "0-3,8": of the calling thread.
    internal static string AllowedCores() =>
        File.ReadLines("/proc/thread-self/status").First(static line => line.StartsWith("Cpus_allowed_list:", StringComparison.Ordinal))
            .Split(':')[1].Trim();
}
