using Xunit;

namespace FastPort.Core.Tests.Support;

/// <summary>A fact about what only Linux has.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class LinuxFactAttribute : FactAttribute
{
    public LinuxFactAttribute() => Skip = OperatingSystem.IsLinux() ? null : "Needs Linux.";
}
