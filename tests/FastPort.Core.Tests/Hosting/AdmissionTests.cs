using System.Net;
using FastPort.Core.Tests.Support;
using FastPort.Hosting;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

public sealed class AdmissionTests
{
    [Fact]
    public void By_default_an_address_has_a_quarter_of_the_connections_and_loopback_all()
    {
        var admission = new Admission(maxConnections: 40, maxPerAddress: null);
        for (int i = 0; i < 10; i++)
        {
            Assert.Null(admission.TryEnter(Address("192.0.2.1"), out _));
            Assert.Null(admission.TryEnter(Address("127.0.0.1"), out _));
        }

        Assert.Equal(ConnectionRejection.AddressLimit, admission.TryEnter(Address("192.0.2.1"), out _));
        Assert.Equal(ConnectionRejection.AddressLimit, admission.TryEnter(Address("::ffff:192.0.2.1"), out _));
        Assert.Null(admission.TryEnter(Address("127.0.0.1"), out _));
        Assert.Null(admission.TryEnter(Address("::1"), out _));
        Assert.Null(admission.TryEnter(Address("192.0.2.2"), out _));
        admission.Leave(Address("::ffff:192.0.2.1"));
        Assert.Null(admission.TryEnter(Address("192.0.2.1"), out _));
    }

    [Fact]
    public void A_number_holds_for_loopback_too_and_zero_for_nobody()
    {
        var one = new Admission(maxConnections: 40, maxPerAddress: 1);
        Assert.Null(one.TryEnter(Address("127.0.0.1"), out _));
        Assert.Equal(ConnectionRejection.AddressLimit, one.TryEnter(Address("127.0.0.1"), out _));

        var none = new Admission(maxConnections: 40, maxPerAddress: 0);
        Assert.All(Enumerable.Range(0, 40), i => Assert.Null(none.TryEnter(Address("192.0.2.1"), out _)));
        Assert.Equal(ConnectionRejection.ConnectionLimit, none.TryEnter(Address("192.0.2.1"), out _));
    }

    [Fact]
    public void Where_descriptors_are_short_an_address_has_a_quarter_of_the_connections_they_allow()
    {
        var descriptors = new ConnectionDescriptors();
        var admission = new Admission(maxConnections: 40, maxPerAddress: null, descriptors: descriptors);
        descriptors.Max = 8;
        Assert.Equal((8, 2), (admission.MaxConnections, admission.MaxPerAddress));
        Assert.Null(admission.TryEnter(Address("192.0.2.1"), out _));
        Assert.Null(admission.TryEnter(Address("192.0.2.1"), out _));
        Assert.Equal(ConnectionRejection.AddressLimit, admission.TryEnter(Address("192.0.2.1"), out _));

        // Who was refused has left its place, and another server of the process uses the rest.
        var other = new Admission(maxConnections: 40, maxPerAddress: 0, descriptors: descriptors);
        Assert.All(Enumerable.Range(0, 6), i => Assert.Null(other.TryEnter(Address("192.0.2.1"), out _)));
        Assert.Equal(ConnectionRejection.ConnectionLimit, admission.TryEnter(Address("192.0.2.2"), out string? why));
        Assert.Equal("this process has descriptors for 8 connections", why);
        other.Leave(Address("192.0.2.1"));
        Assert.Null(admission.TryEnter(Address("192.0.2.2"), out _));
    }

    [Fact]
    public void IPv6_counts_by_networks_of_64_bits()
    {
        var admission = new Admission(maxConnections: 40, maxPerAddress: 2);
        Assert.Null(admission.TryEnter(Address("2001:db8:0:1::1"), out _));
        Assert.Null(admission.TryEnter(Address("2001:db8:0:1:ffff:ffff:ffff:ffff"), out _));
        Assert.Equal(ConnectionRejection.AddressLimit, admission.TryEnter(Address("2001:db8:0:1:8000::"), out _));
        Assert.Null(admission.TryEnter(Address("2001:db8:0:2::1"), out _));
        admission.Leave(Address("2001:db8:0:1::1"));
        Assert.Null(admission.TryEnter(Address("2001:db8:0:1::5"), out _));
    }

    [Fact]
    public void A_connection_that_turns_out_to_come_from_elsewhere_counts_there()
    {
        var admission = new Admission(maxConnections: 10, maxPerAddress: 1);
        Assert.Null(admission.TryEnter(Address("10.0.0.1"), out _));
        Assert.Null(admission.TryMove(Address("10.0.0.1"), Address("10.0.0.2"), out _));

        Assert.Null(admission.TryEnter(Address("10.0.0.1"), out _));
        Assert.Equal(ConnectionRejection.AddressLimit, admission.TryEnter(Address("10.0.0.2"), out _));
        Assert.Equal(
            ConnectionRejection.AddressLimit, admission.TryMove(Address("10.0.0.1"), Address("10.0.0.2"), out _));
        Assert.Equal(ConnectionRejection.AddressLimit, admission.TryEnter(Address("10.0.0.1"), out _));
        Assert.Equal(2, admission.Count);
    }

    [Fact]
    public async Task Connections_that_have_not_said_Hello_are_limited_where_it_is_required()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => (o.RequireRoutingId, o.MaxConnections, o.MaxUnidentifiedConnections) = (true, 100, 2));
        using RawPeer first = await server.ConnectAsync();
        using RawPeer second = await server.ConnectAsync();
        await server.SessionAsync(1);
        using (RawPeer third = await server.ConnectAsync())
        {
            await third.ExpectGoneAsync();
        }

        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.UnidentifiedLimit));
        await Patience.UntilAsync(() => server.Log.WithId(3001).Count != 0, "the rejection was logged");
        Assert.Contains("FastPort:MaxUnidentifiedConnections is 2", Assert.Single(server.Log.WithId(3001)).Text, StringComparison.Ordinal);

        // Who says Hello makes room, and so does who leaves.
        await first.SayHelloAsync("first");
        using RawPeer fourth = await server.ConnectAsync();
        await fourth.SayHelloAsync("fourth");
        second.Dispose();
        await Patience.UntilAsync(() => server.Closed.Count == 1, "the second was over");
        using RawPeer fifth = await server.ConnectAsync();
        using RawPeer sixth = await server.ConnectAsync();
        await fifth.SayHelloAsync("fifth");
        await sixth.SayHelloAsync("sixth");
    }

    [Fact]
    public async Task By_default_they_are_half_of_all_twice_what_one_address_may_have()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => (o.RequireRoutingId, o.MaxConnections) = (true, 4));
        Assert.Equal(1, new Admission(maxConnections: 4, maxPerAddress: null).MaxPerAddress);
        using RawPeer first = await server.ConnectAsync();
        using RawPeer second = await server.ConnectAsync();

        // They take their places on the pool, in any order.
        await server.SessionAsync(1);
        using RawPeer third = await server.ConnectAsync();

        await third.ExpectGoneAsync();

        await first.SayHelloAsync("first");
        await second.SayHelloAsync("second");
    }

    [Fact]
    public async Task Where_no_Hello_is_required_connections_may_stay_anonymous()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.MaxUnidentifiedConnections = 1);
        using RawPeer first = await server.ConnectAsync();
        using RawPeer second = await server.ConnectAsync();

        await first.PingAsync();
        await second.PingAsync();
    }

    private static IPEndPoint Address(string address) => new(IPAddress.Parse(address), 1);
}
