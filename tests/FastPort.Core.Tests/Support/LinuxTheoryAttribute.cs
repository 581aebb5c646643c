using Xunit;

namespace FastPort.Core.Tests.Support;

/// <summary>A theory about what only Linux has.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class LinuxTheoryAttribute : TheoryAttribute
{
    public LinuxTheoryAttribute() => Skip = OperatingSystem.IsLinux() ? null : "Needs Linux.";
}
