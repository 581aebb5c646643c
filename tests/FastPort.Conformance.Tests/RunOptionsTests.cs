using Xunit;

namespace FastPort.Conformance.Tests;

/// <summary>The command line of the suite.</summary>
public sealed class RunOptionsTests
{
    [Fact]
    public void Options_come_before_the_command()
    {
        RunOptions options = RunOptions.Parse(
            ["--transport", "tcp,wss", "--case", "streams", "--cases", "mine", "--trace", "--", "node", "--trace", "--", "my-adapter.mjs"]);

        Assert.Equal(["tcp", "wss"], options.Transports);
        Assert.Equal(("streams", "mine", true, false), (options.Part, options.Folder, options.WithTrace, options.OnlyList));
        Assert.Equal(["node", "--trace", "--", "my-adapter.mjs"], options.Command);
    }

    [Theory]
    [InlineData("--transport udp -- node", "no transport 'udp'; there are tcp, tls, unix, ws, wss.")]
    [InlineData("--transport tcp, -- node", "no transport ''")]
    [InlineData("--transport", "--transport needs a value.")]
    [InlineData("--case -- node", "--case needs a value.")]
    [InlineData("--verbose -- node", "'--verbose' is not an option")]
    [InlineData("node my-adapter.mjs", "'node' is not an option. The adapter's command comes behind '--'.")]
    [InlineData("", "The adapter's command is missing: it comes behind '--'.")]
    [InlineData("--transport tcp --", "The adapter's command is missing")]
    public void A_mistake_is_named(string line, string problem)
    {
        FormatException e = Assert.Throws<FormatException>(
            () => RunOptions.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)));

        Assert.Contains(problem, e.Message, StringComparison.Ordinal);
    }
}
