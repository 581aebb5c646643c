using System.Diagnostics;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>Builds of the libraries: this repository's own are strict, those of programs that reference them are not.</summary>
public sealed class ConsumerBuildTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    [Fact]
    public async Task A_program_builds_with_a_copy_of_the_sources_that_lacks_the_style()
    {
        DirectoryInfo directory = Directory.CreateTempSubdirectory("fastport-consumer-");
        try
        {
            string copy = Path.Combine(directory.FullName, "FastPort");
            CopySources("FastPort.Transport", copy);
            CopySources("FastPort.Core", copy);
            CopySources("Charts", copy);
            foreach (string file in Directory.EnumerateFiles(Repository.Root, "Directory.*.props"))
            {
                File.Copy(file, Path.Combine(copy, Path.GetFileName(file)));
            }

            // Not in the style, and a warning.
            string source = Path.Combine(copy, "src", "FastPort.Core", "Foreign.cs");
            await File.WriteAllTextAsync(source, "#warning Foreign\nnamespace Foreign { internal class Thing { int i ; } }", Token);
            string program = Directory.CreateDirectory(Path.Combine(directory.FullName, "Program")).FullName;
            await File.WriteAllTextAsync(
                Path.Combine(program, "Program.csproj"),
                """
                <Project Sdk="Microsoft.NET.Sdk">
                  <PropertyGroup>
                    <OutputType>Exe</OutputType>
                    <TargetFramework>net10.0</TargetFramework>
                  </PropertyGroup>
                  <ItemGroup>
                    <ProjectReference Include="../FastPort/src/FastPort.Core/FastPort.Core.csproj" />
                  </ItemGroup>
                </Project>
                """,
                Token);
            await File.WriteAllTextAsync(
                Path.Combine(program, "Program.cs"), "System.Console.WriteLine(typeof(FastPort.FastPortServer));", Token);

            (int code, string output) = await RunAsync(program, "build", "-nodeReuse:false", "-p:UseSharedCompilation=false");

            Assert.True(code == 0, output);
            Assert.DoesNotMatch("warning (IDE|CA|MA|RS)[0-9]", output);
        }
        finally
        {
            directory.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task A_build_in_this_repository_is_strict()
    {
        string project = Path.Combine("src", "FastPort.Core");
        const string Asked = "-getProperty:TreatWarningsAsErrors,EnforceCodeStyleInBuild,RunAnalyzers";

        (int code, string output) = await RunAsync(Repository.Root, "msbuild", project, Asked);

        Assert.True(code == 0, output);
        Assert.Contains("\"TreatWarningsAsErrors\": \"true\"", output, StringComparison.Ordinal);
        Assert.Contains("\"EnforceCodeStyleInBuild\": \"true\"", output, StringComparison.Ordinal);
        Assert.Contains("\"RunAnalyzers\": \"\"", output, StringComparison.Ordinal);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static void CopySources(string project, string copy)
    {
        string from = Path.Combine(Repository.Root, "src", project);
        foreach (string file in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories))
        {
            string path = Path.GetRelativePath(from, file);
            if (path.Split(Path.DirectorySeparatorChar)[0] is not ("bin" or "obj"))
            {
                string to = Path.Combine(copy, "src", project, path);
                Directory.CreateDirectory(Path.GetDirectoryName(to)!);
                File.Copy(file, to);
            }
        }
    }

    private static async Task<(int Code, string Output)> RunAsync(string directory, params string[] arguments)
    {
        var start = new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", arguments)
        {
            WorkingDirectory = directory,
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };

        // The gate's, a developer's, and what MSBuild tells the processes that it starts, such as these tests.
        foreach (string name in start.Environment.Keys.Where(
            static name => name is "FastPortChecks" or "RunAnalyzers" || name.StartsWith("MSBuild", StringComparison.OrdinalIgnoreCase))
            .ToArray())
        {
            start.Environment.Remove(name);
        }

        using Process process = Process.Start(start)!;
        using var limit = new CancellationTokenSource(Limit);
        try
        {
            Task<string> errors = process.StandardError.ReadToEndAsync(limit.Token);
            string output = await process.StandardOutput.ReadToEndAsync(limit.Token);
            await process.WaitForExitAsync(limit.Token);
            return (process.ExitCode, output + await errors);
        }
        finally
        {
            process.Kill(entireProcessTree: true);
        }
    }
}
