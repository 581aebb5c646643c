using FastPort.Configuration;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Configuration;

public sealed class OpcUaTagGroupOptionsTests
{
    [Theory]
    [InlineData("0.5", true)]
    [InlineData("2.5%", true)]
    [InlineData("0,5", false)]
    [InlineData("1,000", false)]
    [InlineData("2,5%", false)]
    public void A_deadband_has_no_comma(string deadband, bool isAllowed)
    {
        List<string> problems = [];

        OptionSection.Visit("Group", problems, null, new OpcUaTagGroupOptions { Deadband = deadband }.Describe);

        Assert.Equal(isAllowed, problems.Count == 0);
    }
}
