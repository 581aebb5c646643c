using System.Diagnostics;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>
/// What the loops of a server and its clients take of the processor when their load has ended, in a process of their own.
/// </summary>
public sealed class IdleTests
{
    private const double ShareOfOneCore = 0.01;
    private const int Windows = 5;

    // What is compared is processor time of that process, which other programs add nothing to.
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(2);

    [LinuxTheory]
    [InlineData(null)]
    [InlineData(100)]
    public async Task Idle_connections_take_less_than_a_hundredth_of_a_core_after_their_loops_have_spun(int? spinMicroseconds)
    {
        // Enough for one of the loops to spin, on whatever machine.
        await using TestHostProcess host = await TestHostProcess.LockStepAsync(spinMicroseconds, "env", "DOTNET_PROCESSOR_COUNT=2");
        await host.ExchangeUntilSpunAsync();

        // One window in which the runtime did nothing of its own is enough.
        double least = double.MaxValue;
        for (int i = 0; i < Windows && least >= ShareOfOneCore; i++)
        {
            long since = Stopwatch.GetTimestamp();
            long before = (await host.MeasureAsync())["cpu-us"];
            await Task.Delay(Window);
            Dictionary<string, long> after = await host.MeasureAsync();
            Assert.Equal(4, after["connections"]);
            least = Math.Min(least, (after["cpu-us"] - before) / Stopwatch.GetElapsedTime(since).TotalMicroseconds);
        }

        Assert.InRange(least, 0, ShareOfOneCore);
    }
}
