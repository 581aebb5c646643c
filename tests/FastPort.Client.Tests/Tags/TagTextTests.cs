using FastPort.Client.Tags;
using FastPort.Tags;
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

    [Fact]
    public void Every_type_either_has_a_form_or_takes_no_text()
    {
        string[] texts = ["1", "true", "2026-11-27", "x", string.Empty, "00000000-0000-0000-0000-000000000000", "Good"];
        foreach (int rank in (int[])[-1, 1])
        {
            foreach (TagType type in Enum.GetValues<TagType>())
            {
                var info = new TagInfo(0, "tag") { Type = type, Rank = rank };
                Assert.Equal(
                    TagText.HasForm(info),
                    Array.Exists(texts, text => TagText.TryParse(rank == 1 ? $"[\"{text}\"]" : text, info, out _)));
            }
        }
    }
}
