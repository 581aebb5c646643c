using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Core.Tests.Support;

/// <summary>A theory about what only Linux has.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class LinuxTheoryAttribute : TheoryAttribute
{
    public LinuxTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = OperatingSystem.IsLinux() ? null : "Needs Linux.";
}
