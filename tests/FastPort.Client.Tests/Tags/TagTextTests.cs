using FastPort.Client.Tags;
using FastPort.Protocol.Tags;
using Xunit;

namespace FastPort.Client.Tests.Tags;

public sealed class TagTextTests
{
    [Theory]
    [InlineData("1.5", true)]
    [InlineData("-2e3", true)]
    [InlineData("1,5", false)]
    [InlineData("1,000", false)]
    [InlineData("[1.5]", false)]
    public void A_number_has_no_comma(string text, bool isOne)
    {
        foreach (TagType type in (TagType[])[TagType.Double, TagType.Float])
        {
            Assert.Equal(isOne, TagText.TryParse(text, new TagInfo(0, "speed") { Type = type, Rank = -1 }, out _));
        }
    }

    [Theory]
    [InlineData("[1.5, 2]", true)]
    [InlineData("[\"1.5\"]", true)]
    [InlineData("[\"1,5\"]", false)]
    public void A_number_of_a_list_has_no_comma(string text, bool isOne) =>
        Assert.Equal(isOne, TagText.TryParse(text, new TagInfo(0, "speeds") { Type = TagType.Double, Rank = 1 }, out _));
}
