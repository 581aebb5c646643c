using Xunit.Sdk;
using Xunit.v3;

namespace FastPort.Tests.Support;

/// <summary>Prepares the process before xunit looks for tests. tests/Directory.Build.targets names it in each test assembly.</summary>
public sealed class TestStart : ITestPipelineStartup
{
    /// <inheritdoc/>
    public ValueTask StartAsync(IMessageSink diagnosticMessageSink)
    {
        DefaultSignals.Restore();
        TransportUnderTest.Choose();
        return default;
    }

    /// <inheritdoc/>
    public ValueTask StopAsync() => default;
}
