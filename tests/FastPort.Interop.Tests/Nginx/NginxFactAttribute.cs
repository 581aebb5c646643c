using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Interop.Tests.Nginx;

/// <summary>A fact that needs nginx.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NginxFactAttribute : FactAttribute
{
    public NginxFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(NginxProcess.Problem);
}
