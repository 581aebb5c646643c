using System.Net.Sockets;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class AcceptErrorsTests
{
    [Fact]
    public void One_peers_bad_luck_is_transient()
    {
        Assert.All(
            new[]
            {
                SocketError.ConnectionReset, SocketError.ConnectionAborted, SocketError.Interrupted, SocketError.HostUnreachable,
                SocketError.OperationNotSupported,
            },
            static e => Assert.Equal(AcceptErrorClass.Transient, AcceptErrors.Sort(e)));
    }

    [Fact]
    public void Want_of_resources_and_everything_unknown_is_pressure()
    {
        Assert.All(
            new[] { SocketError.TooManyOpenSockets, SocketError.NoBufferSpaceAvailable, SocketError.SystemNotReady, SocketError.SocketError,
                (SocketError)123_456 },
            static e => Assert.Equal(AcceptErrorClass.Pressure, AcceptErrors.Sort(e)));
    }

    [Fact]
    public void A_socket_that_cannot_listen_is_fatal()
    {
        Assert.All(
            new[] { SocketError.NotSocket, SocketError.InvalidArgument, SocketError.OperationAborted },
            static e => Assert.Equal(AcceptErrorClass.Fatal, AcceptErrors.Sort(e)));
    }

    [Fact]
    public void Delays_double_from_a_tenth_of_a_second_to_five_and_start_anew_after_a_success()
    {
        var backoff = new AcceptBackoff();
        Assert.False(backoff.Succeeded());

        double[] delays = [.. Enumerable.Range(0, 8).Select(_ => backoff.Next().TotalMilliseconds)];

        Assert.Equal([100, 200, 400, 800, 1600, 3200, 5000, 5000], delays);
        Assert.True(backoff.Succeeded());
        Assert.False(backoff.Succeeded());
        Assert.Equal(100, backoff.Next().TotalMilliseconds);
    }
}
