using System.Buffers.Binary;
using System.Net;
using System.Text;
using FastPort.Proxies;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Proxies;

public sealed class ProxyHeaderTests
{
    [Fact]
    public void Every_header_is_read_at_every_cut_and_leaves_what_follows() => Prop.ForAll(Headers().ToArbitrary(), static one =>
    {
        byte[] bytes = [.. one.Bytes, .. "the client's bytes"u8];
        for (int cut = 0; cut < one.Bytes.Length; cut++)
        {
            Assert.Equal(ProxyHeaderStatus.Incomplete, ProxyHeader.Read(bytes.AsSpan(0, cut), out _));
        }

        for (int cut = one.Bytes.Length; cut <= bytes.Length; cut++)
        {
            Assert.Equal(ProxyHeaderStatus.Complete, ProxyHeader.Read(bytes.AsSpan(0, cut), out ProxyHeader header));
            Assert.Equal(new ProxyHeader(one.Bytes.Length, one.IsOwn, one.Client), header);
        }
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void No_bytes_throw_and_no_header_is_longer_than_its_bytes() => Prop.ForAll(
        Headers().SelectMany(static one => Damage(one.Bytes)).ToArbitrary(),
        static bytes => ProxyHeader.Read(bytes, out ProxyHeader header) != ProxyHeaderStatus.Complete
            || header.Length is > 0 and <= ProxyHeader.MaxBytes && header.Length <= bytes.Length)
        .Check(Config.QuickThrowOnFailure.WithMaxTest(3000));

    [Theory]
    [InlineData("GET / HTTP/1.1\r\n")]
    [InlineData("PROXX")]
    [InlineData("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n")]
    [InlineData("PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n")]
    [InlineData("PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n")]
    [InlineData("PROXY TCP4 1.2.3 5.6.7.8 1 2\r\n")]
    [InlineData("PROXY TCP4 ::1 ::1 1 2\r\n")]
    [InlineData("PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n")]
    [InlineData("PROXY TCP6 [::1]:80 ::1 1 2\r\n")]
    [InlineData("PROXY TCP5 1.2.3.4 5.6.7.8 1 2\r\n")]
    [InlineData("PROXY TCP4 1.2.3.4  5.6.7.8 1 2\r\n")]
    [InlineData("PROXY TCP4 1.2.3.4 5.6.7.8 -1 2\r\n")]
    [InlineData("PROXY \r\n")]
    public void Other_texts_are_no_header(string text) =>
        Assert.Equal(ProxyHeaderStatus.Invalid, ProxyHeader.Read(Encoding.ASCII.GetBytes(text), out _));

    [Fact]
    public void A_line_without_an_end_is_given_up_after_107_bytes()
    {
        byte[] line = [.. "PROXY UNKNOWN "u8, .. new byte[200]];

        Assert.Equal(ProxyHeaderStatus.Incomplete, ProxyHeader.Read(line.AsSpan(0, 106), out _));
        Assert.Equal(ProxyHeaderStatus.Invalid, ProxyHeader.Read(line.AsSpan(0, 107), out _));
    }

    [Theory]
    [InlineData(0x11, 0x11, 12)]
    [InlineData(0x22, 0x11, 12)]
    [InlineData(0x21, 0x11, 11)]
    [InlineData(0x21, 0x21, 35)]
    [InlineData(0x21, 0x11, 4081)]
    public void Other_versions_commands_and_lengths_are_no_header(byte versionAndCommand, byte family, ushort length) =>
        Assert.Equal(ProxyHeaderStatus.Invalid, ProxyHeader.Read(Binary(versionAndCommand, family, new byte[length]), out _));

    private sealed record Header(byte[] Bytes, bool IsOwn, IPEndPoint? Client);

    private static Gen<Header> Headers() => Gen.OneOf(
        Address(4).SelectMany(a => Address(4).Select(b => new Header(
            Encoding.ASCII.GetBytes($"PROXY TCP4 {a.Address} {b.Address} {a.Port} {b.Port}\r\n"), IsOwn: false, a))),
        Address(16).SelectMany(a => Address(16).Select(b => new Header(
            Encoding.ASCII.GetBytes($"PROXY TCP6 {a.Address} {b.Address} {a.Port} {b.Port}\r\n"), IsOwn: false, a))),
        Gen.Elements("PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n").Select(
            static text => new Header(Encoding.ASCII.GetBytes(text), IsOwn: false, null)),
        Address(4).SelectMany(a => Rest().Select(rest => new Header(Binary(0x21, 0x11, [.. Addresses(a), .. rest]), IsOwn: false, a))),
        Address(16).SelectMany(a => Rest().Select(rest => new Header(Binary(0x21, 0x21, [.. Addresses(a), .. rest]), IsOwn: false, a))),
        Rest().Select(static rest => new Header(Binary(0x20, 0x00, rest), IsOwn: true, null)),
        Rest().Select(static rest => new Header(Binary(0x21, 0x00, rest), IsOwn: false, null)),
        Rest().Select(static rest => new Header(Binary(0x21, 0x31, [.. new byte[216], .. rest]), IsOwn: false, null)));

    private static Gen<IPEndPoint> Address(int bytes) => Gen.Choose(0, 255).ListOf(bytes).SelectMany(static parts =>
        Gen.Choose(0, 65535).Select(port => new IPEndPoint(new IPAddress([.. parts.Select(static p => (byte)p)]), port)));

    // Extensions (TLVs), which are not read.
    private static Gen<byte[]> Rest() => Gen.Choose(0, 60).Select(static n => new byte[n]);

    private static Gen<byte[]> Damage(byte[] bytes) => Gen.Choose(0, bytes.Length - 1).SelectMany(place =>
        Gen.Choose(0, 255).SelectMany(value => Gen.Choose(0, bytes.Length).Select(cut =>
        {
            byte[] damaged = [.. bytes];
            damaged[place] = (byte)value;
            return damaged[..cut];
        })));

    private static byte[] Addresses(IPEndPoint source)
    {
        byte[] address = source.Address.GetAddressBytes();
        byte[] ports = new byte[4];
        BinaryPrimitives.WriteUInt16BigEndian(ports, (ushort)source.Port);
        return [.. address, .. new byte[address.Length], .. ports];
    }

    private static byte[] Binary(byte versionAndCommand, byte family, byte[] body)
    {
        byte[] length = new byte[2];
        BinaryPrimitives.WriteUInt16BigEndian(length, (ushort)body.Length);
        return [.. "\r\n\r\n\0\r\nQUIT\n"u8, versionAndCommand, family, .. length, .. body];
    }
}
