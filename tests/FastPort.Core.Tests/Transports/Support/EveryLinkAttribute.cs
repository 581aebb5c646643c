using System.Reflection;
using Xunit.Sdk;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>Runs a theory once over every link, with the link's name as its argument.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class EveryLinkAttribute : DataAttribute
{
    public override IEnumerable<object[]> GetData(MethodInfo testMethod) => Links.All.Select(static link => (object[])[link.Name]);
}
