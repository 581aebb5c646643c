using FastPort.OpcBridge.Sources;
using FastPort.OpcUa;
using FastPort.Protocol.Tags;
using Xunit;

namespace FastPort.OpcBridge.Tests.Sources;

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
    public void A_matrix_without_elements_is_no_value_of_OPC_UA()
    {
        Assert.False(TagValues.TryToVariant(TagValue.FromArray<int>([], 0, 3), out _));
        Assert.False(TagValues.TryToVariant(TagValue.FromArray<string>([], 2, 0), out _));
        Assert.False(TagValues.TryToVariant(TagValue.FromElements(TagType.NodeId, [], 2, 0), out _));
    }
}
