using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

public sealed class LatencyStatsOptionsTests
{
    [Fact]
    public void The_defaults_are_the_published_ones_and_valid()
    {
        var options = new LatencyStatsOptions();

        Assert.True(options.EnableConsoleOutput);
        Assert.True(options.EnableFileOutput);
        Assert.Equal("Stats", options.OutputDirectory);
        Assert.Equal("latency_stats", options.OutputFilePrefix);
        Assert.Equal(60, options.FileWriteIntervalSeconds);
        Assert.Equal(10_000, options.MaxSamplesInMemory);
        Assert.Empty(options.Validate());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(86_401)]
    public void A_wrong_interval_is_named_with_its_value_and_range(int seconds)
    {
        var failure = Assert.Single(new LatencyStatsOptions { FileWriteIntervalSeconds = seconds }.Validate());

        Assert.Equal($"LatencyStats:FileWriteIntervalSeconds is {seconds}; give 1 to 86400 seconds.", failure);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(10_000_001)]
    public void A_wrong_number_of_samples_is_named_with_its_value_and_range(int samples)
    {
        var failure = Assert.Single(new LatencyStatsOptions { MaxSamplesInMemory = samples }.Validate());

        Assert.Equal($"LatencyStats:MaxSamplesInMemory is {samples}; give 0 (none) to 10000000 samples.", failure);
    }

    [Theory]
    [InlineData("")]
    [InlineData("  ")]
    [InlineData("a/b")]
    [InlineData("a\\b")]
    [InlineData("a:b")]
    [InlineData("a\nb")]
    public void A_wrong_prefix_is_named_with_its_value(string prefix)
    {
        var failure = Assert.Single(new LatencyStatsOptions { OutputFilePrefix = prefix }.Validate());

        string shown = string.IsNullOrWhiteSpace(prefix) ? "empty" : $"'{prefix}'";
        Assert.StartsWith($"LatencyStats:OutputFilePrefix is {shown}; give 1 to 100 characters", failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("", "empty")]
    [InlineData("a\0b", "'a\\0b'")]
    public void A_wrong_directory_is_named_with_its_value(string directory, string shown)
    {
        var failure = Assert.Single(new LatencyStatsOptions { OutputDirectory = directory }.Validate());

        Assert.Equal($"LatencyStats:OutputDirectory is {shown}; give the path of a directory.", failure);
    }

    [Fact]
    public void Every_wrong_value_is_named_at_once()
    {
        var options = new LatencyStatsOptions
        {
            OutputDirectory = null!,
            OutputFilePrefix = new string('ü', 51),
            FileWriteIntervalSeconds = -4,
            MaxSamplesInMemory = -4,
        };

        Assert.Equal(4, options.Validate().Count);
    }
}
