using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>A fact that needs redis-server.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RedisFactAttribute : FactAttribute
{
    public RedisFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(RedisProcess.Problem);
}
