using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>
/// Tests that listen to activities run alone: a listener is the whole process's. xunit looks for collections only in the tests' own
/// assembly.
/// </summary>
[CollectionDefinition(DisableParallelization = true)]
public sealed class TraceCollection;
