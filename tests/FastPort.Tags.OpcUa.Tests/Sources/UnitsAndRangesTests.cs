using System.Buffers;
using FastPort.Tags.OpcUa.Sources;
using FastPort.OpcUa;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>Structures of OPC 10000-8 as a server sends them.</summary>
public sealed class UnitsAndRangesTests
{
    [Theory]
    [InlineData(-10, 90.5)]
    [InlineData(double.NegativeInfinity, double.NaN)]
    public void A_range_is_read(double low, double high)
    {
        Variant value = Structure(886, [.. BitConverter.GetBytes(low), .. BitConverter.GetBytes(high)]);

        Assert.True(UnitsAndRanges.TryReadRange(value, out (double Low, double High) range));
        Assert.Equal((low, high), range);
        Assert.False(UnitsAndRanges.TryReadUnit(value, out _));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("http://www.opcfoundation.org/UA/units/un/cefact")]
    public void A_unit_is_read(string? namespaceUri)
    {
        byte[] body =
        [
            .. Encode(Variant.From(namespaceUri)), 1, 2, 3, 4, .. Encode(new LocalizedText("en", "°C")),
            .. Encode(new LocalizedText(null, "Celsius")),
        ];

        Assert.True(UnitsAndRanges.TryReadUnit(Structure(889, body), out string? unit));
        Assert.Equal("°C", unit);
        Assert.False(UnitsAndRanges.TryReadRange(Structure(889, body), out _));
        Assert.All(Enumerable.Range(0, body.Length), length => Assert.False(
            UnitsAndRanges.TryReadUnit(Structure(889, body[..length]), out _)));
    }

    [Fact]
    public void Bytes_that_are_no_structure_do_no_harm() => Prop.ForAll<byte[]>(static bytes =>
    {
        UnitsAndRanges.TryReadUnit(Structure(889, bytes), out _);
        return bytes.Length == 16 == UnitsAndRanges.TryReadRange(Structure(886, bytes), out _);
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Other_values_are_neither()
    {
        Assert.False(UnitsAndRanges.TryReadUnit("°C", out _));
        Assert.False(UnitsAndRanges.TryReadRange(5.0, out _));
        Assert.False(UnitsAndRanges.TryReadRange(default, out _));
    }

    private static Variant Structure(uint encoding, byte[] body) =>
        Variant.From(new ExtensionObject(new NodeId(0, encoding), ExtensionObjectEncoding.Binary, body));

    // Without the byte of the type.
    private static byte[] Encode(Variant value)
    {
        var writer = new ArrayBufferWriter<byte>();
        value.WriteBinary(writer);
        return writer.WrittenSpan[1..].ToArray();
    }
}
