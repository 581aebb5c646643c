using System.Text.Json;
using Xunit;

namespace FastPort.Server.Tests;

/// <summary>What the runtime is told of the program, in the file beside it.</summary>
public sealed class RuntimeOptionsTests
{
    /// <summary>
    /// Left to its own, the runtime waits on one core for a second in which no method is called for the first time. Statistics, sampled
    /// each second, put that off for seconds of full load.
    /// docs/decisions/0062.
    /// </summary>
    [Fact]
    public void Code_that_runs_often_is_optimized_soon()
    {
        string file = Path.Combine(AppContext.BaseDirectory, "FastPort.Server.runtimeconfig.json");
        using var options = JsonDocument.Parse(File.ReadAllText(file));

        JsonElement properties = options.RootElement.GetProperty("runtimeOptions").GetProperty("configProperties");

        Assert.Equal(1, properties.GetProperty("System.Runtime.TieredCompilation.CallCountingDelayMs").GetInt32());
    }
}
