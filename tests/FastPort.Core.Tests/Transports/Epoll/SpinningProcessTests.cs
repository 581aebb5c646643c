using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>Whether the loops of a server and its clients spin under steady load, by the cores that their process may use.</summary>
public sealed class SpinningProcessTests
{
    private const string OneByAffinity = "taskset -c";
    private const string OneByCount = "env DOTNET_PROCESSOR_COUNT=1";

    // Eight short waits in a row are enough to spin; this is thousands.
    private const int Exchanges = 4;

    [LinuxTheory]
    [InlineData(OneByAffinity)]
    [InlineData(OneByCount)]
    public async Task Where_a_process_may_use_one_core_only_no_loop_of_it_spins(string launcher)
    {
        await using TestHostProcess host = await TestHostProcess.LockStepAsync(spinMicroseconds: null, Launcher(launcher));
        Dictionary<string, long> figures = [];
        for (int i = 0; i < Exchanges; i++)
        {
            figures = await host.ExchangeAsync();
        }

        // One loop of the server and one of its clients.
        Assert.Equal((0, 2, 0), (figures["max-spinners"], figures["loops"], figures["spins"]));
    }

    [LinuxTheory]
    [InlineData(OneByAffinity)]
    [InlineData(OneByCount)]
    public async Task A_time_that_was_asked_for_is_obeyed_there_too(string launcher)
    {
        await using TestHostProcess host = await TestHostProcess.LockStepAsync(100, Launcher(launcher));

        await host.ExchangeUntilSpunAsync();
    }

    [LinuxTheory]
    [InlineData(null)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Where_it_may_use_more_they_spin_on_all_but_one(int? cores)
    {
        string[] launcher = cores is null ? [] : Launcher($"env DOTNET_PROCESSOR_COUNT={cores}");
        await using TestHostProcess host = await TestHostProcess.LockStepAsync(spinMicroseconds: null, launcher);

        // This machine may have one.
        Dictionary<string, long> figures = (cores ?? Environment.ProcessorCount) == 1 ? await host.MeasureAsync() : await host.ExchangeUntilSpunAsync();

        Assert.Equal((cores ?? Environment.ProcessorCount) - 1, figures["max-spinners"]);
    }

    private static string[] Launcher(string words) =>
        words == OneByAffinity ? [.. words.Split(' '), PinningTests.AllowedCores().Split(',', '-')[0]] : words.Split(' ');
}
