using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Encoding;

/// <summary>The examples of OPC 10000-6, 5.2.2, and messages whose bytes were counted by hand.</summary>
public sealed class GoldenBytesTests
{
    [Fact]
    public void Integers_and_floats() => Assert.Equal(
        "00CA9A3B0000D0C0",
        Hex(static (ref BinaryEncoder e) =>
        {
            e.Write(1_000_000_000);
            e.Write(-6.5f);
        }));

    [Fact]
    public void A_text() => Assert.Equal("06000000E6B0B4426F79", Hex(static (ref BinaryEncoder e) => e.WriteString("水Boy")));

    [Fact]
    public void A_guid() => Assert.Equal(
        "912B967275FAE64A8D28B404DC7DAF63",
        Hex(static (ref BinaryEncoder e) => e.Write(Guid.Parse("72962B91-FA75-4AE6-8D28-B404DC7DAF63"))));

    [Theory]
    [InlineData("i=72", "0048")]
    [InlineData("ns=5;i=1025", "01050104")]
    [InlineData("i=256", "01000001")]
    [InlineData("ns=256;i=1", "02000101000000")]
    [InlineData("i=65536", "02000000000100")]
    [InlineData("ns=1;s=Hot水", "03010006000000486F74E6B0B4")]
    [InlineData("ns=1;b=AQI=", "050100020000000102")]
    public void Node_ids(string id, string bytes)
    {
        Assert.Equal(bytes, Hex((ref BinaryEncoder e) => e.WriteNodeId(NodeId.Parse(id))));
        Assert.Equal(id, NodeId.Parse(id).ToString());
        var decoder = new BinaryDecoder(Convert.FromHexString(bytes), EncodingLimits.Default);
        Assert.Equal(NodeId.Parse(id), decoder.ReadNodeId());
    }

    [Theory]
    [InlineData("s=a;b", "nsu=urn:x;s=a;b")]
    [InlineData("ns=3;s=a;b", "nsu=urn:x;s=a;b")]
    [InlineData("ns=3;i=7", "nsu=urn:x;i=7")]
    public void Node_ids_with_a_uri(string id, string text)
    {
        Assert.Equal(text, new ExpandedNodeId(NodeId.Parse(id), "urn:x").ToString());
        Assert.Equal("svr=2;" + text, new ExpandedNodeId(NodeId.Parse(id), "urn:x", ServerIndex: 2).ToString());
        Assert.Equal(id, new ExpandedNodeId(NodeId.Parse(id)).ToString());
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(504_911_232_000_000_000, 0)]
    [InlineData(504_911_232_000_000_001, 1)]
    [InlineData(3_155_378_975_990_000_000, long.MaxValue)]
    [InlineData(3_155_378_975_989_999_999, 2_650_467_743_989_999_999)]
    public void Times(long ticks, long wire) => Assert.Equal(wire, UaTime.ToWire(new DateTime(ticks, DateTimeKind.Utc)));

    [Theory]
    [InlineData(long.MinValue, 0)]
    [InlineData(-1, 0)]
    [InlineData(long.MaxValue, 3_155_378_975_990_000_000)]
    public void Times_out_of_range_are_clamped(long wire, long ticks) => Assert.Equal(ticks, UaTime.FromWire(wire).Ticks);

    [Fact]
    public void A_data_value_orders_its_fields_by_the_standard()
    {
        var value = new DataValue(5, StatusCodes.Bad, UaTime.FromWire(0x0102), UaTime.FromWire(0x0304))
        {
            SourcePicoseconds = 6,
            ServerPicoseconds = 7,
        };

        Assert.Equal(
            "3F" + "0605000000" + "00000080" + "0201000000000000" + "0600" + "0403000000000000" + "0700",
            Hex((ref BinaryEncoder e) => e.WriteDataValue(value)));
    }

    [Fact]
    public void A_matrix_has_its_dimensions_behind_its_elements() => Assert.Equal(
        "C3" + "06000000" + "010203040506" + "02000000" + "02000000" + "03000000",
        Hex(static (ref BinaryEncoder e) => e.WriteVariant(Variant.FromMatrix<byte>([1, 2, 3, 4, 5, 6], 2, 3))));

    [Fact]
    public void A_read_of_one_node_has_93_bytes_and_its_response_82()
    {
        // opcua.md counts with a four-byte token and node id.
        byte[] request = RoundTripTests.Encode(static (ref BinaryEncoder e) =>
        {
            e.Write(1u | (631u << 16));
            e.WriteStructure(new RequestHeader { AuthenticationToken = new NodeId(1, 1000), Timestamp = UaTime.FromWire(1) });
            e.WriteStructure(new ReadRequest { NodesToRead = [new ReadValueId { NodeId = new NodeId(2, 1000), AttributeId = 13 }] });
        });
        byte[] response = RoundTripTests.Encode(static (ref BinaryEncoder e) =>
        {
            e.Write(1u | (634u << 16));
            e.WriteStructure(new ResponseHeader { Timestamp = UaTime.FromWire(1) });
            e.WriteStructure(new ReadResponse { Results = [new DataValue(1, default, UaTime.FromWire(1), UaTime.FromWire(1))] });
        });

        // With 24 bytes of chunk header.
        Assert.Equal((93, 82), (request.Length + 24, response.Length + 24));
    }

    private static string Hex(RoundTripTests.Writing write) => Convert.ToHexString(RoundTripTests.Encode(write));
}
