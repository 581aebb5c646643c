using System.Runtime.CompilerServices;

namespace FastPort.Tests.Support;

/// <summary>
/// Prepares the process before the first test. Compiled into each test project: a library's initializer would run too late.
/// </summary>
internal static class TestModule
{
    [ModuleInitializer]
    internal static void Prepare()
    {
        DefaultSignals.Restore();
        TransportUnderTest.Choose();
    }
}
