using System.Buffers;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>What a user's protocol keeps of unfinished messages counts in the budget, and known peers are the last to be closed.</summary>
public sealed class ProtocolMemoryTests : EchoServerTests
{
    private const int Megabyte = 1024 * 1024;

    private readonly List<Collector> _made = [];

    [Fact]
    public async Task At_the_budget_the_peers_that_are_late_the_longest_go_and_known_ones_last()
    {
        Options.MaxBufferedMegabytes = 4;
        MakeProtocol = connection =>
        {
            lock (_made)
            {
                // The first one is known, and has been late for the longest time.
                _made.Add(new Collector(connection, isKnown: _made.Count == 0, TimeSpan.FromMilliseconds(900 - _made.Count)));
                return _made[^1];
            }
        };
        await StartAsync();
        List<RawPeer> peers = [];
        for (int i = 0; i < 10; i++)
        {
            peers.Add(await ConnectAsync());
            await peers[i].TrySendAsync(new byte[Megabyte]);
            await Patience.UntilAsync(
                () => _made.Count > i && (_made[i].Collected == Megabyte || _made[i].Ended is not null), "it was collected");
        }

        await Patience.UntilAsync(() => _made.Count(static one => one.Ended is null) <= 4, "the budget was kept");

        Assert.Null(_made[0].Ended);
        Collector[] ended = [.. _made.Where(static one => one.Ended is not null)];
        Assert.InRange(ended.Length, 6, 8);
        Assert.All(ended, static one => Assert.Equal(CloseKind.MemoryLimit, one.Ended!.Kind));
        peers.ForEach(static peer => peer.Dispose());
        await Patience.UntilAsync(() => Server!.Memory.Used == 0, "all was given back");
    }

    [Fact]
    public async Task A_known_peer_that_is_late_for_long_is_told_and_closed()
    {
        Options.MaxBufferedMegabytes = 1;
        var made = new TaskCompletionSource<Collector>();
        MakeProtocol = connection =>
        {
            made.SetResult(new Collector(connection, isKnown: true, TimeSpan.FromSeconds(2)));
            return made.Task.Result;
        };
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await peer.TrySendAsync(new byte[2 * Megabyte]);

        Collector collector = await made.Task.InTimeAsync();
        await Patience.UntilAsync(() => collector.Ended is not null, "it was closed");

        Assert.Equal((CloseKind.MemoryLimit, true), (collector.Ended!.Kind, collector.WasTold));
        await Patience.UntilAsync(() => Server!.Memory.Used == 0, "all was given back");
    }

    [Fact]
    public async Task A_protocol_that_throws_when_it_is_asked_ends_and_the_others_are_asked()
    {
        Options.MaxBufferedMegabytes = 1;
        MakeProtocol = connection =>
        {
            lock (_made)
            {
                _made.Add(new Collector(connection, isKnown: false, TimeSpan.Zero) { Throws = _made.Count == 0 });
                return _made[^1];
            }
        };
        await StartAsync();
        using RawPeer throws = await ConnectAsync();
        await Patience.UntilAsync(() => _made.Count == 1, "the connection has its protocol");
        using RawPeer other = await ConnectAsync();
        await other.TrySendAsync(new byte[2 * Megabyte]);

        await Patience.UntilAsync(() => _made.Count == 2 && _made.TrueForAll(static one => one.Ended is not null), "both have ended");

        Assert.Equal((CloseKind.Internal, CloseKind.MemoryLimit), (_made[0].Ended!.Kind, _made[1].Ended!.Kind));
    }

    [Fact]
    public async Task A_protocol_that_throws_when_it_is_told_ends_and_the_others_are_told()
    {
        Options.MaxBufferedMegabytes = 1;
        MakeProtocol = connection =>
        {
            lock (_made)
            {
                _made.Add(new Collector(connection, isKnown: true, TimeSpan.FromSeconds(2)) { ThrowsWhenTold = _made.Count == 0 });
                return _made[^1];
            }
        };
        await StartAsync();
        using RawPeer throws = await ConnectAsync();
        await throws.TrySendAsync(new byte[2 * Megabyte]);
        await Patience.UntilAsync(() => _made.Count == 1 && _made[0].Ended is not null, "the one that throws has ended");
        using RawPeer other = await ConnectAsync();
        await other.TrySendAsync(new byte[2 * Megabyte]);
        await Patience.UntilAsync(() => _made.Count == 2 && _made[1].Ended is not null, "the other one has ended");

        Assert.Equal((CloseKind.Internal, CloseKind.MemoryLimit), (_made[0].Ended!.Kind, _made[1].Ended!.Kind));
        Assert.True(_made[1].WasTold);
    }

    [Fact]
    public async Task A_small_part_of_a_message_beside_the_ring_does_not_count()
    {
        const int Small = 4 * 1024;
        var made = new TaskCompletionSource<Collector>();
        long counted = -1;
        MakeProtocol = connection =>
        {
            made.SetResult(new Collector(connection, isKnown: false, TimeSpan.Zero)
            {
                // The ring has its free 64 KiB now.
                AfterRent = () => Volatile.Write(ref counted, connection.ReceiveMemory),
            });
            return made.Task.Result;
        };
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await peer.TrySendAsync(new byte[Small]);

        Collector collector = await made.Task.InTimeAsync();
        await Patience.UntilAsync(() => collector.Collected == Small, "it was collected");

        Assert.Equal(0, Volatile.Read(ref counted));
    }

    [Fact]
    public async Task The_pool_of_messages_is_made_once_and_costs_nothing_to_ask_for()
    {
        var opened = new TaskCompletionSource<Connection>(TaskCreationOptions.RunContinuationsAsynchronously);
        MakeProtocol = connection =>
        {
            opened.SetResult(connection);
            return new Collector(connection, isKnown: true, TimeSpan.Zero);
        };
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        Connection connection = await opened.Task.InTimeAsync();

        ArrayPool<byte> pool = connection.MessagePool;

        Assert.NotSame(pool, ArrayPool<byte>.Shared);
        Assert.Equal(0, Allocations.LeastOf(() => Assert.True(ReferenceEquals(pool, connection.MessagePool))));
    }

    // Keeps all that it receives: a message without an end.
    private sealed class Collector(Connection connection, bool isKnown, TimeSpan late) : IConnectionProtocol, IMemoryUser
    {
        private readonly List<byte[]> _parts = [];
        private int _collected;
        private CloseReason? _ended;

        public int Collected => Volatile.Read(ref _collected);

        public CloseReason? Ended => Volatile.Read(ref _ended);

        public bool WasTold { get; private set; }

        /// <summary>Called while the ring still holds what a part was rented for.</summary>
        public Action? AfterRent { get; init; }

        public bool Throws { get; init; }

        public bool ThrowsWhenTold { get; init; }

        public bool IsPeerKnown => Throws ? throw new InvalidOperationException("on purpose") : isKnown;

        public TimeSpan? UnfinishedFor => late;

        public void TellAndClose(CloseReason reason)
        {
            WasTold = true;
            if (ThrowsWhenTold)
            {
                throw new InvalidOperationException("on purpose");
            }

            connection.Close(reason);
        }

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            int length = input.Length;
            byte[] part = connection.MessagePool.Rent(length);
            AfterRent?.Invoke();
            input.CopyTo(0, part.AsSpan(0, length));
            input.Consume(length);
            _parts.Add(part);
            Interlocked.Add(ref _collected, length);
            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated) => connection.Close(CloseReason.PeerClosed);

        public void OnClosed(CloseReason reason)
        {
            _parts.ForEach(part => connection.MessagePool.Return(part));
            Volatile.Write(ref _ended, reason);
        }
    }
}
