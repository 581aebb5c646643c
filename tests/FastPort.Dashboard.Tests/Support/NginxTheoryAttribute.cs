using System.Runtime.CompilerServices;
using FastPort.Tests.Browser;
using Xunit;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>A test that needs nginx and Chromium: skipped where one is not installed, but not in the gate.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NginxTheoryAttribute : TheoryAttribute
{
    public NginxTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(NginxProcess.Problem) ?? Chromium.SkipReason;
}
