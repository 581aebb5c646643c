using System.Net.Sockets;
using System.Text.Json;
using FastPort.Dashboard.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>A peer that does not read what the server writes: seen by number and by name, until it reads.</summary>
public sealed class SlowConsumerTests
{
    private const int SlowColumn = 9;

    [Fact]
    public async Task ASlowConsumerIsShownByNameUntilItReads()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        using Socket peer = await ConnectAsync(host);
        Session session = Assert.Single(host.Server.Sessions);
        using EventStream events = await EventStream.OpenAsync(host.Http);
        await events.ReadFiguresAsync(static f => Slow(f) == 0);

        // As much as the kernel takes, and then some.
        byte[] body = new byte[64 * 1024];
        await Patience.UntilAsync(
            () =>
            {
                _ = session.TrySend(0x1000, body);
                return session.Connection.IsSendBlocked;
            },
            "the peer's buffers are full");

        JsonElement figures = await events.ReadFiguresAsync(static f => Slow(f) == 1);
        Assert.True(figures.GetProperty("point").GetProperty("values")[SlowColumn - 1].GetDouble() > 0);
        JsonElement row = await RowAsync(host, static row => row.GetProperty("isSlow").GetBoolean());
        Assert.Equal(("slow one", true), (row.GetProperty("name").GetString(), row.GetProperty("pendingBytes").GetInt64() > 0));

        Task reading = ReadAsync(peer);
        await events.ReadFiguresAsync(static f => Slow(f) == 0);
        await RowAsync(host, static row => !row.GetProperty("isSlow").GetBoolean());
        session.Abort();
        await reading;
    }

    private static async Task<Socket> ConnectAsync(DashboardHost host)
    {
        var peer = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = 4096 };
        await peer.ConnectAsync("127.0.0.1", host.Server.Endpoints[0].Port);
        byte[] name = "slow one"u8.ToArray();
        byte[] body = [0x1A, (byte)name.Length, .. name];
        byte[] hello = new byte[FrameHeader.Size + body.Length];
        new FrameHeader((uint)(FrameHeader.MinimumLength + body.Length), ControlType.Hello, FrameFlags.None, FrameHeader.CurrentVersion, 1)
            .Write(hello);
        body.CopyTo(hello, FrameHeader.Size);
        await peer.SendAsync(hello);
        byte[] welcome = new byte[FrameHeader.Size];
        await peer.ReceiveAsync(welcome);
        await Patience.UntilAsync(() => host.Server.Sessions.Any(static s => s.IsIdentified), "the peer was welcomed");
        return peer;
    }

    private static async Task ReadAsync(Socket peer)
    {
        byte[] bytes = new byte[256 * 1024];
        try
        {
            while (await peer.ReceiveAsync(bytes) != 0)
            {
            }
        }
        catch (SocketException)
        {
            // Aborted by the server at the end of the test.
        }
    }

    private static double Slow(JsonElement figures) => figures.GetProperty("point").GetProperty("values")[SlowColumn].GetDouble();

    private static async Task<JsonElement> RowAsync(DashboardHost host, Predicate<JsonElement> condition)
    {
        CancellationToken token = Patience.Token;
        while (true)
        {
            using var page = JsonDocument.Parse(await host.Http.GetStringAsync("/sessions", token));
            JsonElement row = page.RootElement.GetProperty("rows")[0].Clone();
            if (condition(row))
            {
                return row;
            }

            // The table is of one snapshot a second.
            await Task.Delay(TimeSpan.FromMilliseconds(50), token);
        }
    }
}
