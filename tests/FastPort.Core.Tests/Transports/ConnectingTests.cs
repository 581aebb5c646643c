using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>A name with several addresses, some of which are refused or never answer.</summary>
public sealed class ConnectingTests
{
    private readonly FakeTimeProvider _time = new();
    private readonly List<Attempt> _attempts = [];

    [Fact]
    public async Task An_address_that_does_not_answer_keeps_the_next_from_nothing()
    {
        await using TestLink open = TestLink.Open(Links.All[0]);
        Task<Connection> connecting = Connect(open, addresses: 3);
        Assert.Single(_attempts);
        _time.Advance(StreamConnector.HeadStart);
        await Patience.UntilAsync(() => _attempts.Count == 2, "the second address was tried, too");
        Connection winner = await MakeAsync(open);

        _attempts[1].Result.SetResult(winner);

        Assert.Same(winner, await connecting.InTimeAsync());
        Assert.True(_attempts[0].Token.IsCancellationRequested);
        Assert.Equal(2, _attempts.Count);

        // Its attempt came to its end before it knew.
        Connection late = await MakeAsync(open);
        _attempts[0].Result.SetResult(late);
        await late.Closed.InTimeAsync();
        Assert.False(winner.IsClosing);
        winner.Abort(CloseReason.LocalClosed);
    }

    [Fact]
    public async Task A_slow_address_may_still_win()
    {
        await using TestLink open = TestLink.Open(Links.All[0]);
        Task<Connection> connecting = Connect(open, addresses: 2);
        _time.Advance(StreamConnector.HeadStart);
        await Patience.UntilAsync(() => _attempts.Count == 2, "the second address was tried, too");
        _attempts[1].Result.SetException(new SocketException((int)SocketError.ConnectionRefused));
        Connection winner = await MakeAsync(open);

        _attempts[0].Result.SetResult(winner);

        Assert.Same(winner, await connecting.InTimeAsync());
        winner.Abort(CloseReason.LocalClosed);
    }

    [Fact]
    public async Task One_that_is_refused_is_followed_at_once_and_the_last_says_why()
    {
        await using TestLink open = TestLink.Open(Links.All[0]);
        Task<Connection> connecting = Connect(open, addresses: 3);
        for (int i = 0; i < 3; i++)
        {
            await Patience.UntilAsync(() => _attempts.Count == i + 1, "the next address was tried");
            _attempts[i].Result.SetException(new SocketException((int)SocketError.ConnectionRefused));
        }

        var e = await Assert.ThrowsAsync<EndpointException>(() => connecting.InTimeAsync());
        Assert.Contains("nothing listens there", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false, "out of file descriptors. Raise the process's limit (ulimit -n).")]
    [InlineData(true, "no more threads. Raise its limits: descriptors (ulimit -n), threads (ulimit -u) and memory.")]
    public async Task A_process_that_gets_no_descriptors_or_threads_is_told_which_limits_to_raise(bool threads, string end)
    {
        await using TestLink open = TestLink.Open(Links.All[0]);
        Task<Connection> connecting = Connect(open, addresses: 1);

        // As Thread.Start throws it.
        _attempts[0].Result.SetException(
            threads ? new OutOfMemoryException() : new SocketException((int)SocketError.TooManyOpenSockets));

        var e = await Assert.ThrowsAsync<EndpointException>(() => connecting.InTimeAsync());
        Assert.StartsWith($"Cannot connect to {open.Endpoint}: ", e.Message, StringComparison.Ordinal);
        Assert.EndsWith(end, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task All_that_run_are_canceled_together()
    {
        await using TestLink open = TestLink.Open(Links.All[0]);
        using var cancel = new CancellationTokenSource();
        Task<Connection> connecting = Connect(open, addresses: 2, cancel.Token);
        _time.Advance(StreamConnector.HeadStart);
        await Patience.UntilAsync(() => _attempts.Count == 2, "the second address was tried, too");

        await cancel.CancelAsync();

        var e = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        Assert.Equal(cancel.Token, e.CancellationToken);
        Assert.All(_attempts, static attempt => Assert.True(attempt.Token.IsCancellationRequested));
    }

    private static async Task<Connection> MakeAsync(TestLink open) =>
        await open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(Patience.Token);

    private Task<Connection> Connect(TestLink open, int addresses, CancellationToken cancellationToken = default)
    {
        ConnectionSettings settings = open.Settings with { Clock = new ConnectionClock(_time) };
        var connector = new StreamConnector(
            open.Endpoint,
            settings,
            (_, _, token) =>
            {
                var attempt = new Attempt(token);
                _attempts.Add(attempt);
                return new ValueTask<Connection>(attempt.Result.Task);
            });
        EndPoint[] to = [.. Enumerable.Range(1, addresses).Select(static i => new IPEndPoint(IPAddress.Loopback, i))];
        return connector.ConnectAsync(to, cancellationToken);
    }

    private sealed record Attempt(CancellationToken Token)
    {
        public TaskCompletionSource<Connection> Result { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
