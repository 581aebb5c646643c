using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>A program that loads a server for a time and prints a <see cref="LoadResult"/>.</summary>
internal interface ILoadProgram
{
    /// <summary>Cores it runs on; none where nothing is pinned.</summary>
    IReadOnlyList<int> Cores { get; }

    /// <summary>Why it cannot be run, or null where it can.</summary>
    string? Missing();

    /// <summary>Executable and arguments, without pinning.</summary>
    /// <param name="server">What to load.</param>
    /// <param name="leadIn">Seconds of load before the measured ones.</param>
    /// <param name="seconds">Measured seconds.</param>
    IReadOnlyList<string> Command(ServerProcess server, double leadIn, double seconds);
}
