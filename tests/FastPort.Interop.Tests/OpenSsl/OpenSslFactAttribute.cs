using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>A fact that needs OpenSSL's program.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class OpenSslFactAttribute : FactAttribute
{
    public OpenSslFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = OpenSslInstallation.SkipReason;
}

/// <summary>A theory that needs OpenSSL's program.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class OpenSslTheoryAttribute : TheoryAttribute
{
    public OpenSslTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = OpenSslInstallation.SkipReason;
}
