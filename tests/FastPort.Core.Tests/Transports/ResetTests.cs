using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Connections that end at once.</summary>
public sealed class ResetTests
{
    private static readonly CloseReason Enough = new(CloseKind.SlowConsumer, "enough");

    [Theory, EveryLink]
    public async Task An_abort_at_any_moment_by_either_side_ends_both(string link)
    {
        var random = new Random(7);
        byte[] bytes = new byte[4_000_000];
        await using TestLink open = TestLink.Open(link, static s => s with { MaxSendBytes = 128 * 1024 });
        for (int round = 0; round < 40; round++)
        {
            (TestProtocol client, TestProtocol server) = await open.ConnectAsync(server: new TestProtocol());
            TestProtocol aborting = round % 2 == 0 ? client : server;
            TestProtocol other = round % 2 == 0 ? server : client;
            int after = random.Next(2) == 0 ? random.Next(2_000) : random.Next(3_000_000);
            aborting.OnBytes = input =>
            {
                aborting.Collect(input);
                if (aborting.ReceivedBytes >= after)
                {
                    aborting.Connection.Abort(Enough);
                }

                return ReceiveOutcome.Continue;
            };

            Task<bool>[] sending = [Task.Run(() => client.SendAsync(bytes)), Task.Run(() => server.SendAsync(bytes))];

            Assert.Equal(Enough, await aborting.ClosedAsync());
            CloseReason seen = await other.ClosedAsync();
            Assert.True(
                seen.Kind is CloseKind.ConnectionLost
                    || (!open.Kind.TellsAborts && seen.Kind is CloseKind.PeerClosed or CloseKind.PeerTruncated),
                seen.ToString());
            await Task.WhenAll(sending).InTimeAsync();
            Assert.Equal((0, 0), (client.Connection.PendingBytes, server.Connection.PendingBytes));
        }
    }

    [Theory, EveryLink]
    public async Task A_peers_reset_is_told_to_one_that_only_waits(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync();
        await raw.SendAsync([1]);
        await server.ReceivedAsync(1);

        raw.Reset();

        CloseReason reason = await server.ClosedAsync();
        Assert.Equal(open.Kind.TellsResets ? CloseKind.ConnectionLost : CloseKind.PeerClosed, reason.Kind);
        Assert.Equal(open.Kind.TellsResets ? 0 : 1, server.Ends.Count);
    }

    [Theory, EveryLink]
    public async Task A_peers_reset_is_told_to_one_that_reads_nothing(string link)
    {
        var time = new FakeTimeProvider();
        await using TestLink open = TestLink.Open(link, time: time);
        if (!open.Kind.TellsResets)
        {
            return;
        }

        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(new TestProtocol { OnBytes = static _ => ReceiveOutcome.Pause });
        await raw.SendAsync([1]);
        await Patience.UntilAsync(() => server.Bursts == 1, "the byte was offered");
        time.Advance(TimeSpan.FromMinutes(1));

        raw.Reset();

        // In steps: the reset takes its time, and some transports look for it now and then.
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromMilliseconds(100));
                return server.Closed.IsCompleted;
            },
            "the reset was found");

        Assert.Equal(CloseKind.ConnectionLost, (await server.ClosedAsync()).Kind);
    }

    [Theory, EveryLink]
    public async Task An_aborts_peer_sees_the_end(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync();

        server.Connection.Abort(Enough);

        Assert.Equal(Enough, await server.ClosedAsync());
        await raw.ExpectGoneAsync();
    }

    [Theory, EveryLink]
    public async Task The_first_reason_stays(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync();

        server.Connection.Close(Enough);
        server.Connection.Abort(CloseReason.Stopping);
        server.Connection.Abort(CloseReason.LocalClosed);

        Assert.Equal(Enough, await server.ClosedAsync());
    }

    [Theory, EveryLink]
    public async Task A_connection_that_was_never_started_can_be_aborted(string link)
    {
        await using TestLink open = TestLink.Open(link);
        Connection connection = await open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(Patience.Token);
        TestProtocol server = await open.AcceptedAsync();

        connection.Abort(Enough);
        connection.Abort(CloseReason.LocalClosed);

        Assert.Equal(Enough, await connection.Closed.InTimeAsync());
        Assert.Null(connection.BeginWrite());
        CloseReason seen = await server.ClosedAsync();
        Assert.True(seen.Kind is CloseKind.ConnectionLost or CloseKind.PeerClosed or CloseKind.PeerTruncated, seen.ToString());

        // Starting it is no mistake of whoever has not heard of the abort.
        connection.Start(new TestProtocol());
    }

    [Theory, EveryLink]
    public async Task A_paused_protocol_ends_with_an_abort_of_its_own(string link)
    {
        var server = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Pause };
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, _) = await open.ConnectRawAsync(server);
        await raw.SendAsync([1, 2, 3]);
        await Patience.UntilAsync(() => server.Bursts == 1, "the bytes were offered");

        server.Connection.Abort(Enough);

        Assert.Equal(Enough, await server.ClosedAsync());
        Assert.Empty(server.Ends);
    }

    [Theory, EveryLink]
    public async Task A_protocol_that_throws_ends_its_own_connection_alone(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (RawEnd raw, TestProtocol broken) = await open.ConnectRawAsync(
            new TestProtocol { OnBytes = static _ => throw new InvalidOperationException("A defect.") });
        (RawEnd other, TestProtocol sound) = await open.ConnectRawAsync(new TestProtocol());

        await raw.SendAsync([1]);

        CloseReason reason = await broken.ClosedAsync();
        Assert.Equal((CloseKind.Internal, "A defect."), (reason.Kind, reason.Exception!.Message));
        Assert.Single(open.Log.WithId(1000));
        Assert.Empty(open.Log.WithId(1009));
        await raw.ExpectGoneAsync();
        await other.SendAsync([1]);
        await sound.ReceivedAsync(1);
    }

    [Theory, EveryLink]
    public async Task What_reading_itself_throws_is_not_told_as_the_protocols_and_ends_the_connection(string link)
    {
        // It leaves more unread than the connection may hold.
        var server = new TestProtocol { OnBytes = static _ => ReceiveOutcome.Continue };
        await using TestLink open = TestLink.Open(link, static s => s with { MaxReceiveBytes = 1_024 });
        (RawEnd raw, _) = await open.ConnectRawAsync(server);

        await raw.SendAsync(new byte[2_000]);

        CloseReason reason = await server.ClosedAsync();
        Assert.Equal((CloseKind.Internal, "Reading threw; see the log."), (reason.Kind, reason.Message));
        Assert.IsType<RingCapacityExceededException>(reason.Exception);
        Assert.Single(open.Log.WithId(1009));
        Assert.Empty(open.Log.WithId(1000));
        await raw.ExpectGoneAsync();
    }

    [Theory, EveryLink]
    public async Task A_protocol_that_throws_when_it_is_opened_or_told_of_the_end_ends_its_connection(string link)
    {
        await using TestLink open = TestLink.Open(link);
        var opening = new TestProtocol { Opened = static () => throw new InvalidOperationException("A defect.") };
        open.Serve = () => opening;
        await open.ConnectToBeRefusedAsync();
        Assert.Same(opening, await open.AcceptedAsync());
        (RawEnd second, TestProtocol ending) = await open.ConnectRawAsync(
            new TestProtocol { Ended = static () => throw new InvalidOperationException("A defect.") });

        second.ShutdownSend();

        Assert.Equal(CloseKind.Internal, (await opening.ClosedAsync()).Kind);
        Assert.Equal(CloseKind.Internal, (await ending.ClosedAsync()).Kind);
        Assert.Equal(2, open.Log.WithId(1000).Count);
        Assert.Empty(open.Log.WithId(1009));
    }
}
