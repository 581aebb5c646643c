using System.Diagnostics;
using System.Net.Sockets;
using System.Runtime.Versioning;
using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Server.Tests;

/// <summary>What the service manager is told, and the unit file.</summary>
[SupportedOSPlatform("linux")]
public sealed class SystemdTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task The_service_manager_is_told_when_the_server_listens_and_when_it_stops()
    {
        using var directory = new TemporaryDirectory();
        string path = Path.Combine(directory.Path, "fastport.sock");
        await using NotifyingProcess server = NotifyingProcess.Start("FastPort.Server.dll", ["--listen", $"unix://{path}"]);

        Assert.Equal("READY=1", await server.NextAsync());
        using (var client = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified))
        {
            await client.ConnectAsync(new UnixDomainSocketEndPoint(path));
        }

        server.Stop();
        Assert.Equal("STOPPING=1", await server.NextAsync());
        (int code, string output, string errors) = await server.EndAsync();
        Assert.Equal((0, string.Empty), (code, errors));
        Assert.Contains($"listening on unix://{path}", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_that_cannot_start_never_says_that_it_is_ready()
    {
        await using NotifyingProcess server = NotifyingProcess.Start(
            "FastPort.Server.dll", [], ("FastPort__Session__MaxFrameBytes", "1"));

        (int code, _, string errors) = await server.EndAsync();

        Assert.Equal(2, code);
        Assert.Contains("MaxFrameBytes", errors, StringComparison.Ordinal);
        Assert.False(server.HasNotified);
    }

    [Theory]
    [InlineData("fastport-server.service")]
    [InlineData("fastport-server@.service")]
    [InlineData("fastport-opcbridge.service")]
    public async Task The_unit_file_is_one_that_systemd_takes(string name)
    {
        string? analyze = (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator)
            .Select(static folder => Path.Combine(folder, "systemd-analyze")).FirstOrDefault(File.Exists);
        Assert.SkipWhen(
            analyze is null && Environment.GetEnvironmentVariable("CI") != "true", "systemd-analyze is not in PATH: install systemd.");
        Assert.NotNull(analyze);
        using var directory = new TemporaryDirectory();
        string unit = Path.Combine(directory.Path, name);

        // The program that it starts has to exist.
        string text = await File.ReadAllTextAsync(Path.Combine(AppContext.BaseDirectory, name));
        Assert.Contains("ExecStart=/usr/bin/fastport-", text, StringComparison.Ordinal);
        await File.WriteAllTextAsync(unit, Regex.Replace(
            text,
            "/usr/bin/fastport-[a-z]+",
            Path.Combine(AppContext.BaseDirectory, "FastPort.Server"),
            RegexOptions.ExplicitCapture,
            Limit));

        (int code, string output) = await RunAsync(analyze, "verify", "--man=no", unit);

        // What it does not know it only warns of, so there must not be a word about the file.
        Assert.True(
            code == 0 && !output.Contains("fastport", StringComparison.Ordinal), $"systemd-analyze ended with {code}:\n{output}");
    }

    private static async Task<(int Code, string Output)> RunAsync(string program, params string[] arguments)
    {
        using Process process = Process.Start(new ProcessStartInfo(program, arguments)
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        await process.WaitForExitAsync().WaitAsync(Limit);
        return (process.ExitCode, await output + await errors);
    }
}
