using Xunit;

namespace FastPort.Tests.Support;

/// <summary>
/// Tests that listen to activities run alone: a listener is the whole process's. Compiled into each test project, as xunit looks for
/// collections only there.
/// </summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class TraceCollection
{
    public const string Name = "Traces";
}
