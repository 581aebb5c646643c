using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Core.Tests.Support;

/// <summary>A fact that needs a network namespace of its own, which not every Linux lets an ordinary user have.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NetworkNamespaceFactAttribute : FactAttribute
{
    public NetworkNamespaceFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = NetworkNamespaces.Problem;
}

/// <summary>A fact that needs two of them, joined by TUN devices.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class ImpairedNetworkFactAttribute : FactAttribute
{
    public ImpairedNetworkFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = NetworkNamespaces.TunProblem;
}
