using System.Text.Json;
using Xunit;

namespace FastPort.Server.Tests;

/// <summary>What the runtime is told of the program, in the file beside it.</summary>
public sealed class RuntimeOptionsTests
{
    /// <summary>
    /// Left to its own, the runtime waits on one core for a second in which no method is called for the first time. Statistics, sampled
    /// each second, put that off for seconds of full load. docs/decisions/0027.
    /// </summary>
    [Fact]
    public void Code_is_compiled_again_soon_on_one_core()
    {
        string file = Path.Combine(AppContext.BaseDirectory, "FastPort.Server.runtimeconfig.json");
        using var options = JsonDocument.Parse(File.ReadAllText(file));

        int delay = options.RootElement.GetProperty("runtimeOptions").GetProperty("configProperties")
            .GetProperty("System.Runtime.TieredCompilation.CallCountingDelayMs").GetInt32();

        Assert.InRange(delay, 1, 10);
    }
}
