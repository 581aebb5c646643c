using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>A fact that needs redis-server, and networks that are joined by TUN devices.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class RedisNetworkFactAttribute : FactAttribute
{
    public RedisNetworkFactAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(RedisProcess.Problem) ?? NetworkNamespaces.TunProblem;
}
