using FastPort.Comparisons.Tests.Support;
using Xunit;

namespace FastPort.Comparisons.Tests.Commands;

public sealed class NodesSimulationCommandTests
{
    [Fact]
    public async Task Every_table_of_a_quick_simulation_is_printed()
    {
        ProgramResult result = await ComparisonsProgram.RunAsync(["nodes-simulation", "--quick", "--nodes", "5", "--ids", "1000"]);

        Assert.Equal((0, ""), (result.ExitCode, result.Errors));
        foreach (string row in (string[])["16 x 16 in flight", "Redis is lost, and back empty", "3, sharded channels", "to each"])
        {
            Assert.Contains(row, result.Output, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("--nodes", "1")]
    [InlineData("--shards", "0")]
    [InlineData("--ids", "0")]
    [InlineData("--relays-per-second", "0")]
    public async Task A_number_out_of_range_is_refused(string option, string value)
    {
        ProgramResult result = await ComparisonsProgram.RunAsync(["nodes-simulation", option, value]);

        Assert.Equal(2, result.ExitCode);
        Assert.Contains($"{option} {value}: must be a number from", result.Errors, StringComparison.Ordinal);
    }
}
