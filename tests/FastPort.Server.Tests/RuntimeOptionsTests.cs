using System.Text.Json;
using Xunit;

namespace FastPort.Server.Tests;

/// <summary>What the runtime is told of the program, in the file beside it.</summary>
public sealed class RuntimeOptionsTests
{
    /// <summary>
    /// Left to its own, the runtime waits on one core for a second in which no method is called for the first time. Statistics, sampled
    /// each second, put that off for seconds of full load. Then it optimizes a thousand methods in the order of their first calls.
    /// docs/decisions/0062.
    /// </summary>
    [Fact]
    public void The_most_frequent_code_is_optimized_first_and_at_once()
    {
        string file = Path.Combine(AppContext.BaseDirectory, "FastPort.Server.runtimeconfig.json");
        using var options = JsonDocument.Parse(File.ReadAllText(file));

        JsonElement properties = options.RootElement.GetProperty("runtimeOptions").GetProperty("configProperties");

        Assert.Equal(0, properties.GetProperty("System.Runtime.TieredCompilation.CallCountingDelayMs").GetInt32());
        Assert.Equal(4000, properties.GetProperty("System.Runtime.TieredCompilation.CallCountThreshold").GetInt32());
    }
}
