using Xunit;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>
/// Tests that read metrics of a host in this process run while no other test does. The SDK of OpenTelemetry makes one series of the
/// instruments of one name in a process, and ends it when the first of their meters is disposed.
/// </summary>
[CollectionDefinition(nameof(OneMeter), DisableParallelization = true)]
public sealed class OneMeter;
