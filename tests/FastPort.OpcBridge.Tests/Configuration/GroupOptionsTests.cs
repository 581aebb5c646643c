using FastPort.Configuration;
using FastPort.OpcBridge.Configuration;
using Xunit;

namespace FastPort.OpcBridge.Tests.Configuration;

public sealed class GroupOptionsTests
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

        OptionSection.Visit("Group", problems, null, new GroupOptions { Deadband = deadband }.Describe);

        Assert.Equal(isAllowed, problems.Count == 0);
    }
}
