using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Interop.Tests.Peers;

/// <summary>A fact that needs Node.js and the peers' packages.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NodeFactAttribute : FactAttribute
{
    public NodeFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = NodeInstallation.SkipReason;
}

/// <summary>A theory that needs Node.js and the peers' packages.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NodeTheoryAttribute : TheoryAttribute
{
    public NodeTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = NodeInstallation.SkipReason;
}
