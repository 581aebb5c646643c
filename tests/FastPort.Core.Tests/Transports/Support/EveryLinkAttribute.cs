using System.Reflection;
using Xunit;
using Xunit.Sdk;
using Xunit.v3;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>Runs a theory once over every link, with the link's name as its argument.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class EveryLinkAttribute : DataAttribute
{
    public override ValueTask<IReadOnlyCollection<ITheoryDataRow>> GetData(MethodInfo testMethod, DisposalTracker disposalTracker) =>
        ValueTask.FromResult<IReadOnlyCollection<ITheoryDataRow>>(
            [.. Links.All.Select(static link => new TheoryDataRow<string>(link.Name))]);

    public override bool SupportsDiscoveryEnumeration() => true;
}
