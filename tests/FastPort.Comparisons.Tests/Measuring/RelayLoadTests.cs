using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using FastPort.Comparisons.Processes;
using Xunit;

namespace FastPort.Comparisons.Tests.Measuring;

/// <summary>The load of the nodes' comparison against a node that confirms what it is sent and delivers nothing.</summary>
public sealed class RelayLoadTests
{
    private const int HeaderBytes = 12;
    private const int LengthBytes = 4;
    private const byte IsReply = 1;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    [Fact]
    public async Task A_relay_that_was_confirmed_and_has_not_come_to_its_target_fails_the_run()
    {
        using var bench = new Workbench(ProgramLocator.Create(), CpuPinning.Detect());
        string assembly = bench.Programs.Find("benchmarks", "FastPortPeer");
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        string node = $"tcp://{listener.LocalEndpoint}";
        using Conversation load = Conversation.Start(
            "load",
            [ProgramLocator.DotNetHost, assembly, "relays", "--from", node, "--to", node, "--senders", "1", "--in-flight", "1"],
            bench);
        CancellationToken cancellation = TestContext.Current.CancellationToken;

        // The target's connection, then the sender's.
        using Socket target = await listener.AcceptSocketAsync(cancellation);
        Task confirming = ConfirmAsync(target, cancellation);
        using Socket sender = await listener.AcceptSocketAsync(cancellation);
        confirming = Task.WhenAll(confirming, ConfirmAsync(sender, cancellation));
        Assert.Equal("ready", await load.HearAsync(Patience, cancellation));

        await load.SayAsync("run 0 0.05");

        string message = (await Assert.ThrowsAsync<ComparisonException>(() => load.HearAsync(Patience, cancellation))).Message;
        Assert.Contains(" relays were confirmed, and 0 have come.", message, StringComparison.Ordinal);
        await confirming;
    }

    // Every request, Hello among them, is answered with an empty body.
    private static async Task ConfirmAsync(Socket socket, CancellationToken cancellation)
    {
        byte[] buffer = new byte[64 * 1024];
        int unread = 0;
        try
        {
            while (await socket.ReceiveAsync(buffer.AsMemory(unread), cancellation) is var bytes and > 0)
            {
                unread += bytes;
                int taken = 0;
                while (FrameBytes(buffer.AsSpan(taken, unread - taken)) is var frame and > 0)
                {
                    byte[] reply = buffer.AsSpan(taken, HeaderBytes).ToArray();
                    BinaryPrimitives.WriteInt32LittleEndian(reply, HeaderBytes - LengthBytes);
                    reply[6] = IsReply;
                    await socket.SendAsync(reply, cancellation);
                    taken += frame;
                }

                buffer.AsSpan(taken, unread - taken).CopyTo(buffer);
                unread -= taken;
            }
        }
        catch (SocketException)
        {
            // The load has ended.
        }
    }

    private static int FrameBytes(ReadOnlySpan<byte> unread) =>
        unread.Length >= HeaderBytes && BinaryPrimitives.ReadInt32LittleEndian(unread) + LengthBytes is var frame && unread.Length >= frame
            ? frame
            : 0;
}
