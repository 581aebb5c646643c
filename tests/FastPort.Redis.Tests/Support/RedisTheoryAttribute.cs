using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>A theory that needs redis-server.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RedisTheoryAttribute : TheoryAttribute
{
    public RedisTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(RedisProcess.Problem);
}
