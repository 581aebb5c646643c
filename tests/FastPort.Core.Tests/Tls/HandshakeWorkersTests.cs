using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Tls;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>How many handshakes compute at a time.</summary>
public sealed class HandshakeWorkersTests
{
    [Fact]
    public async Task No_more_steps_run_at_a_time_than_allowed_and_all_run()
    {
        const int Handshakes = 5;
        await using TestServer server = await TestServer.StartAsync();
        using var clock = new ConnectionClock();
        var settings = new ConnectionSettings { Clock = clock, Logger = server.Log };
        Connection below = await TransportCollection.CreateShared().CreateConnector(server.Endpoint, settings).ConnectAsync(Patience.Token);
        var workers = new HandshakeWorkers(limit: 1);
        using var held = new SemaphoreSlim(0);
        int begun = 0;
        int running = 0;
        int most = 0;
        RecordStream[] handshakes = [.. Enumerable.Range(0, Handshakes).Select(_ => new RecordStream(below, workers))];
        Task[] steps = [.. handshakes.Select(StepAsync)];

        foreach (RecordStream handshake in handshakes)
        {
            handshake.End();
        }

        await Patience.UntilAsync(() => Volatile.Read(ref begun) == 1, "the first step runs");

        // The pool's queue is in order: what was put into it before this has begun, too.
        await Task.Factory.StartNew(
            static () => { }, Patience.Token, TaskCreationOptions.PreferFairness, TaskScheduler.Default).InTimeAsync();
        Assert.Equal(1, Volatile.Read(ref begun));

        held.Release(Handshakes);
        await Task.WhenAll(steps).InTimeAsync();
        Assert.Equal((Handshakes, 1), (begun, most));
        below.Abort(CloseReason.LocalClosed);

        // What follows the read runs where a step of a handshake does.
        async Task StepAsync(RecordStream records)
        {
            Assert.Equal(0, await records.ReadAsync(Memory<byte>.Empty, Patience.Token).ConfigureAwait(false));
            most = Math.Max(most, Interlocked.Increment(ref running));
            Interlocked.Increment(ref begun);
            held.Wait(Patience.Token);
            Interlocked.Decrement(ref running);
        }
    }
}
