using Xunit;

namespace FastPort.Interop.Tests.Peers;

/// <summary>A fact that needs Node.js and the peers' packages.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NodeFactAttribute : FactAttribute
{
    public NodeFactAttribute() => Skip = NodeInstallation.SkipReason;
}

/// <summary>A theory that needs Node.js and the peers' packages.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NodeTheoryAttribute : TheoryAttribute
{
    public NodeTheoryAttribute() => Skip = NodeInstallation.SkipReason;
}
