using Xunit;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>Tests that measure what the whole process does run alone.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class AloneCollection
{
    public const string Name = "Alone";
}
