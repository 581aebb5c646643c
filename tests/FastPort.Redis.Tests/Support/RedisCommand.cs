using System.Diagnostics;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>Commands to Redis by redis-cli, which is installed with redis-server.</summary>
internal static class RedisCommand
{
    /// <summary>Runs a command at a server, which is to succeed, and returns what it says.</summary>
    public static async Task<string> RunAsync(this RedisProcess redis, params string[] command)
    {
        using Process cli = Process.Start(
            new ProcessStartInfo(PeerPrograms.Find("redis-cli")!, ["-e", "-p", RedisProcess.Text(redis.Port), .. command])
            {
                UseShellExecute = false,
                RedirectStandardOutput = true,
            })!;
        string answer = await cli.StandardOutput.ReadToEndAsync(Patience.Token);
        await cli.WaitForExitAsync(Patience.Token);
        Assert.True(cli.ExitCode == 0, $"{string.Join(' ', command)}: {answer}");
        return answer;
    }

    /// <summary>Runs a command again and again until its answer has a text in it.</summary>
    public static async Task UntilSaysAsync(this RedisProcess redis, string text, params string[] command)
    {
        CancellationToken limit = Patience.Token;
        while (!(await redis.RunAsync(command)).Contains(text, StringComparison.Ordinal))
        {
            await Task.Delay(20, limit);
        }
    }
}
