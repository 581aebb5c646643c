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
        Assert.Equal((2, 0), (figures["loops"], figures["spins"]));
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
    [InlineData(2)]
    [InlineData(3)]
    public async Task Where_it_may_use_more_they_do(int cores)
    {
        await using TestHostProcess host = await TestHostProcess.LockStepAsync(
            spinMicroseconds: null, Launcher($"env DOTNET_PROCESSOR_COUNT={cores}"));

        await host.ExchangeUntilSpunAsync();
    }

    [LinuxTheory]
    [InlineData(null)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(5)]
    public async Task At_most_one_fewer_than_cores_spin_at_the_same_time_in_the_whole_process(int? cores)
    {
        await using TestHostProcess host = TestHostProcess.Spinners(cores);

        Dictionary<string, long> figures = await host.ReadAsync();

        int most = (cores ?? Environment.ProcessorCount) - 1;
        Assert.Equal((most, Math.Max(most - 1, 0)), (figures["alone"], figures["beside-one"]));
    }

    private static string[] Launcher(string words) =>
        words == OneByAffinity ? [.. words.Split(' '), PinningTests.AllowedCores().Split(',', '-')[0]] : words.Split(' ');
}
