using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>What no analyzer finds of awaits that need the caller's thread: CA2007 does not look at <c>Task.Yield()</c>.</summary>
public sealed class LibraryAwaitTests
{
    private static readonly string[] Libraries = ["Core", "Protocol", "Dashboard", "Security", "Redis", "OpcUa"];

    // Runs on the thread pool only, and gives way to the pool's other work, which ForceYielding does not.
    private static readonly string[] Allowed = ["DiagnosticsHandlers.cs"];

    [Fact]
    public void Libraries_give_way_with_ForceYielding() => Assert.Equal(
        Allowed,
        Libraries
            .SelectMany(static name => Directory.EnumerateFiles(
                Path.Combine(Repository.Root, "src", $"FastPort.{name}"), "*.cs", SearchOption.AllDirectories))
            .Where(static path => File.ReadAllText(path).Contains("Task.Yield()", StringComparison.Ordinal))
            .Select(Path.GetFileName));
}
