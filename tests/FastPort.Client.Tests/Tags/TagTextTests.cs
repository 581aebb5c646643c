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

    /// <summary>A number that is too large is refused. Infinity has to be written by its name.</summary>
    [Theory]
    [InlineData(TagType.Double, "1e400", false)]
    [InlineData(TagType.Double, "-1e400", false)]
    [InlineData(TagType.Float, "3.5e38", false)]
    [InlineData(TagType.Float, "3.4028235e38", true)]
    [InlineData(TagType.Double, "Infinity", true)]
    [InlineData(TagType.Float, "-Infinity", true)]
    [InlineData(TagType.Double, "NaN", true)]
    [InlineData(TagType.Byte, "256", false)]
    [InlineData(TagType.Int32, "0x1F", false)]
    public void A_number_beyond_its_type_does_not_become_infinite(TagType type, string text, bool isOne) =>
        Assert.Equal(isOne, TagText.TryParse(text, new TagInfo(0, "speed") { Type = type, Rank = -1 }, out _));

    /// <summary>01.02.2026 is another day in another country, and 12:00 alone would be a time of today.</summary>
    [Theory]
    [InlineData("2026-11-27", "2026-11-27T00:00:00Z")]
    [InlineData("2026-11-27 10:05", "2026-11-27T10:05:00Z")]
    [InlineData("2026-11-27 10:05:06.5", "2026-11-27T10:05:06.5Z")]
    [InlineData("2026-11-27T10:05:06.1234567Z", "2026-11-27T10:05:06.1234567Z")]
    [InlineData("2026-11-27T10:05:06+02:00", "2026-11-27T08:05:06Z")]
    [InlineData("01.02.2026", null)]
    [InlineData("1/2/2026", null)]
    [InlineData("10.5", null)]
    [InlineData("12:00", null)]
    [InlineData("2026-11", null)]
    public void A_time_is_written_with_the_year_first(string text, string? time)
    {
        var info = new TagInfo(0, "time") { Type = TagType.DateTime, Rank = -1 };

        Assert.Equal(time is not null, TagText.TryParse(text, info, out TagValue value));
        Assert.Equal(time, value.TryGet(out DateTime parsed) ? $"{parsed:yyyy-MM-ddTHH:mm:ss.FFFFFFFK}" : null);
    }

    [Theory]
    [InlineData(TagType.String, "[\"a\", null]")]
    [InlineData(TagType.String, "[[\"a\"], [\"b\"]]")]
    [InlineData(TagType.String, "[{}]")]
    public void A_list_has_no_elements_but_scalars(TagType type, string text) =>
        Assert.False(TagText.TryParse(text, new TagInfo(0, "texts") { Type = type, Rank = 1 }, out _));

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
