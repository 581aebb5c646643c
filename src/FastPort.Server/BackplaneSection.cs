using System.Runtime.CompilerServices;
using FastPort.Redis;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace FastPort.Server;

/// <summary>Makes the server a node in a group of servers, if configured.</summary>
internal static class BackplaneSection
{
    /// <summary>Joins the nodes if section <c>FastPort:Backplane</c> exists; nothing of Redis is loaded otherwise.</summary>
    public static FastPortBuilder AddBackplaneIfConfigured(this FastPortBuilder builder, IConfiguration configuration) =>
        configuration.GetSection(RedisBackplaneOptions.SectionName).Exists() ? Add(builder, configuration) : builder;

    /// <summary>Whether a start has failed because the nodes could not be joined; the message is for the user.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static bool IsFailure(InvalidOperationException exception) => exception is BackplaneException;

    // A separate method: compiling a method that calls into an assembly loads the assembly.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static FastPortBuilder Add(FastPortBuilder builder, IConfiguration configuration) => builder.AddRedisBackplane(configuration);
}
