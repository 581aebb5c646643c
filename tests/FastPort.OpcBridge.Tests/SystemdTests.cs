using System.Runtime.Versioning;
using Xunit;

namespace FastPort.OpcBridge.Tests;

/// <summary>What the service manager is told.</summary>
[SupportedOSPlatform("linux")]
public sealed class SystemdTests
{
    [Fact]
    public async Task The_service_manager_is_told_when_the_bridge_listens_and_when_it_stops()
    {
        await using NotifyingProcess bridge = NotifyingProcess.Start(
            "FastPort.OpcBridge.dll",
            ["--listen", "tcp://127.0.0.1:0"],
            ("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"),
            ("OpcUaServer__Certificates__Directory", "pki"));

        Assert.Equal("READY=1", await bridge.NextAsync());
        bridge.Stop();
        Assert.Equal("STOPPING=1", await bridge.NextAsync());
        (int code, string output, string errors) = await bridge.EndAsync();
        Assert.Equal((0, string.Empty), (code, errors));
        Assert.Contains("listening on tcp://127.0.0.1:", output, StringComparison.Ordinal);
    }
}
