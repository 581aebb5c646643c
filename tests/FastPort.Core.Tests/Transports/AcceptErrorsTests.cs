using System.Globalization;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Transports;
using FastPort.Transports.Epoll.Native;
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

    // accept(2): ENETDOWN, EPROTO, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH, and what ends one connection.
    [LinuxTheory]
    [InlineData(nameof(AcceptErrorClass.Transient), 100, 71, 92, 112, 64, 113, 95, 101, 4, 11, 103, 104, 110)]
    [InlineData(nameof(AcceptErrorClass.Pressure), 23, 24, 105, 12, 1, 13)]
    [InlineData(nameof(AcceptErrorClass.Fatal), 9, 22, 88)]
    public void Errors_of_the_system_have_their_classes(string expected, params int[] errors) => Assert.All(
        errors, error => Assert.Equal(expected, $"{AcceptErrors.Sort(Errno.ToSocketError(error))}"));

    [Fact]
    public void Delays_double_from_a_tenth_of_a_second_to_five_and_start_anew_after_a_success()
    {
        using var clock = new ConnectionClock(new FakeTimeProvider());
        var log = new RecordingLog();
        var recovery = new AcceptRecovery(new ConnectionSettings { Clock = clock, Logger = log });
        var endpoint = Endpoint.Parse("tcp://127.0.0.1:1");
        recovery.Succeeded(endpoint);

        Fail(8);
        Assert.Empty(log.WithId(1004));
        recovery.Succeeded(endpoint);
        recovery.Succeeded(endpoint);
        Fail(1);

        Assert.Equal(
            [100, 200, 400, 800, 1600, 3200, 5000, 5000, 100],
            log.WithId(1001).Select(static line => line.Text.Split("next try in ")[1].Split(' ')[0])
                .Select(static text => int.Parse(text, CultureInfo.InvariantCulture)));
        Assert.Single(log.WithId(1004));

        void Fail(int times)
        {
            for (int i = 0; i < times; i++)
            {
                Assert.Equal(AcceptErrorClass.Pressure, recovery.Failed(endpoint, SocketError.TooManyOpenSockets, static () => { }));
            }
        }
    }
}
