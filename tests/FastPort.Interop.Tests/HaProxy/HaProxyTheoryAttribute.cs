using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Interop.Tests.HaProxy;

/// <summary>A theory that needs HAProxy.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class HaProxyTheoryAttribute : TheoryAttribute
{
    public HaProxyTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(HaProxyProcess.Problem);
}
