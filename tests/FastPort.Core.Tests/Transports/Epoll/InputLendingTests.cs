using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Core.Tests.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>What a protocol sends back of a large burst leaves from where it was received, and nothing else is taken for it.</summary>
public sealed class InputLendingTests
{
    [LinuxTheory]
    [InlineData("tcp by epoll")]
    [InlineData("unix by epoll")]
    [InlineData("tcp by epoll, polled")]
    public async Task Of_a_large_burst_only_its_own_bytes_are_lent(string link)
    {
        const int Large = 40_000;
        (bool Small, bool Array, bool Other, bool Own) lent = default;
        var server = new TestProtocol();
        byte[] another = new byte[Large];
        server.OnBytes = input =>
        {
            if (input.Length < 100)
            {
                lent.Small |= TryLend(server, input.FirstReadableSpan);
                input.Consume(input.Length);
            }
            else if (input.Length >= Large)
            {
                lent.Array = TryLend(server, another);
                lent.Other = Task.Run(() => TryLend(server, input.FirstReadableSpan)).Result;
                lent.Own = TryLend(server, input.FirstReadableSpan[..Large]);
                input.Consume(input.Length);
            }

            return ReceiveOutcome.Continue;
        };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);
        byte[] bytes = Wire.Bytes(Large);

        await raw.SendAsync([1]);
        await Patience.UntilAsync(() => server.Bursts > 0, "the byte was offered");
        await raw.SendAsync(bytes);

        Assert.Equal(bytes, await raw.ReadAsync(Large));
        Assert.Equal((false, false, false, true), lent);
    }

    [LinuxTheory]
    [InlineData("unix by epoll")]
    public async Task Where_there_is_no_memory_for_what_the_socket_does_not_take_the_connection_ends(string link)
    {
        // More than a Unix socket takes.
        const int Large = 1_500_000;
        var server = new TestProtocol();
        await using TestLink open = TestLink.Open(link, static s => s with { MaxReceiveBytes = 4_000_000, MaxSendBytes = 4_000_000 });
        server.OnBytes = input =>
        {
            if (input.Length >= Large)
            {
                Assert.True(TryLend(server, input.FirstReadableSpan));
                input.Consume(input.Length);
                open.Pool.FailRents();
            }

            return ReceiveOutcome.Continue;
        };
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        await raw.SendAsync(Wire.Bytes(Large));

        CloseReason reason = await server.ClosedAsync();
        open.Pool.FailRents(false);
        Assert.Equal(CloseKind.Internal, reason.Kind);
        Assert.IsType<RentRefusedException>(reason.Exception);
    }

    private static bool TryLend(TestProtocol server, ReadOnlySpan<byte> bytes)
    {
        ArrayPoolCircularBuffer? ring = server.Connection.BeginWrite();
        Assert.NotNull(ring);
        bool lent = server.Connection.TryWriteInput(bytes);
        server.Connection.EndWrite();
        return lent;
    }
}
