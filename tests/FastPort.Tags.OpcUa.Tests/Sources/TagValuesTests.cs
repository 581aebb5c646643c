using FastPort.Tags.OpcUa.Sources;
using FastPort.OpcUa;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Sources;

/// <summary>Values that clients can send and OPC UA servers may not take.</summary>
public sealed class TagValuesTests
{
    [Theory]
    [InlineData(TagType.String)]
    [InlineData(TagType.Guid)]
    [InlineData(TagType.ByteString)]
    [InlineData(TagType.XmlElement)]
    [InlineData(TagType.NodeId)]
    [InlineData(TagType.ExpandedNodeId)]
    [InlineData(TagType.QualifiedName)]
    [InlineData(TagType.LocalizedText)]
    [InlineData(TagType.ExtensionObject)]
    [InlineData(TagType.DataValue)]
    [InlineData(TagType.Variant)]
    [InlineData(TagType.DiagnosticInfo)]
    public void A_null_array_of_any_type_stays_one(TagType type)
    {
        var value = TagValue.FromElements(type, null);

        Assert.True(TagValues.TryToVariant(value, out Variant variant));
        Assert.Equal(((BuiltInType)type, true, null), (variant.Type, variant.IsArray, variant.ToObject()));
        Assert.Equal(value, TagValues.ToTagValue(variant));
    }

    [Fact]
    public void A_null_array_of_numbers_stays_one()
    {
        Assert.True(TagValues.TryToVariant(TagValue.FromArray<int>(null), out Variant variant));
        Assert.Equal(Variant.FromArray<int>(null), variant);
    }

    [Fact]
    public void Arrays_of_any_type_come_back_as_they_were()
    {
        Variant[] arrays =
        [
            Variant.FromArray([Guid.Empty, Guid.NewGuid()]),
            Variant.FromArray([new XmlElement("<a/>"), new XmlElement(null)]),
            Variant.FromArray([NodeId.Null, new NodeId(1, "text")]),
            Variant.FromArray([new ExpandedNodeId(new NodeId(1, 2), "urn:a"), default]),
            Variant.FromArray([new QualifiedName(1, "name"), default]),
            Variant.FromArray([new LocalizedText("en", "text"), default]),
            Variant.FromArray([new DataValue(5, StatusCodes.BadTimeout, DateTime.UnixEpoch), default]),
            Variant.FromArray([(Variant)5, Variant.Null, (Variant)"text", Variant.FromArray([1, 2])]),
            Variant.FromArray([new DiagnosticInfo { AdditionalInfo = "info" }, null!]),
            Variant.FromMatrix([(Variant)1, (Variant)2.5], 2, 1),
        ];
        Assert.All(arrays, static array =>
        {
            TagValue value = TagValues.ToTagValue(array);

            Assert.Equal(((TagType)array.Type, true), (value.Type, value.IsArray));
            Assert.True(TagValues.TryToVariant(value, out Variant back));
            Assert.Equal(array, back);
        });
    }

    [Fact]
    public void An_array_with_an_element_that_is_no_Variant_is_no_value() =>
        Assert.False(TagValues.TryToVariant(TagValue.FromElements(TagType.Variant, [[1, 1], [255]]), out _));

    [Fact]
    public void A_matrix_without_elements_has_its_dimensions_both_ways()
    {
        TagValue[] values =
        [
            TagValue.FromArray<int>([], 0, 3), TagValue.FromArray<string>([], 2, 0), TagValue.FromElements(TagType.NodeId, [], 2, 0),
            TagValue.FromArray<int>([], 100_000, 100_000, 0),
        ];
        Assert.All(values, static value =>
        {
            Assert.True(TagValues.TryToVariant(value, out Variant variant));
            Assert.Equal(value.Dimensions.ToArray(), variant.Dimensions.ToArray());
            Assert.Equal(value, TagValues.ToTagValue(variant));
        });
    }
}
