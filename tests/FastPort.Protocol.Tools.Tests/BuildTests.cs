using System.Diagnostics;
using System.Xml.Linq;
using FastPort.Protocol.Tools.Contracts;
using Xunit;

namespace FastPort.Protocol.Tools.Tests;

/// <summary>Builds of a project with two contracts, one of which imports the other. C# is not compiled: other tests do that.</summary>
public sealed class BuildTests : IDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(3);
    private readonly string _directory = Directory.CreateTempSubdirectory("fastport build-").FullName;

    public BuildTests()
    {
        Write("Game/Game.csproj", Project());
        Write("Game/messages/ask.proto", "syntax = \"proto3\"; package game; message Ask {} message Answer {}");
        WriteGame("rpc Walk(Ask) returns (Answer);");
        Write("Trade/trade.proto", Trade("0x2000"));
    }

    private string Services => Path.Combine(_directory, "Game", "obj", "Debug", "net10.0", "game.services.cs");

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task The_task_runs_when_something_has_changed()
    {
        Assert.Contains("class MoveClient", await GenerateAsync(runs: true), StringComparison.Ordinal);
        Assert.All(
            ["trade.services.cs", "messages/ask.services.cs"],
            path => Assert.True(File.Exists(Path.Combine(Path.GetDirectoryName(Services)!, path))));
        await GenerateAsync(runs: false);

        // The contract itself.
        WriteGame("rpc Walk(Ask) returns (Answer); rpc Run(Ask) returns (Answer);");
        Assert.Contains("RunAsync", await GenerateAsync(runs: true), StringComparison.Ordinal);
        await GenerateAsync(runs: false);

        // An import, whose namespace is in the generated code.
        Write(
            "Game/messages/ask.proto",
            "syntax = \"proto3\"; package game; option csharp_namespace = \"Other\"; message Ask {} message Answer {}");
        Assert.Contains("global::Other.Ask", await GenerateAsync(runs: true), StringComparison.Ordinal);

        // Missing outputs.
        File.Delete(Services);
        await GenerateAsync(runs: true);
        foreach (string set in Directory.GetFiles(Path.GetDirectoryName(Services)!, "*.protoset"))
        {
            File.Delete(set);
        }

        await GenerateAsync(runs: true);
        await GenerateAsync(runs: false);

        // What an editor runs.
        WriteGame("rpc Jump(Ask) returns (Answer);");
        Assert.Contains("game.services.cs", await EditAsync(), StringComparison.Ordinal);
        Assert.Contains("JumpAsync", await File.ReadAllTextAsync(Services, Token), StringComparison.Ordinal);

        // An error leaves the editor with the code from before, and is an error of the next build.
        WriteGame("rpc Swim(stream Ask) returns (Answer) { option (fastport.run) = RUN_INLINE; }");
        Assert.Contains("game.services.cs", await EditAsync(), StringComparison.Ordinal);
        Assert.Contains("JumpAsync", await File.ReadAllTextAsync(Services, Token), StringComparison.Ordinal);
        Assert.Contains($"error {Problem.RunOfStream}", await FailAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Errors_name_the_line_and_the_list_keeps_numbers()
    {
        Write("Trade/trade.proto", Trade("0x1000"));
        Assert.Matches(
            $@"game\.proto\(4,\d+\): error {Problem.SameNumber}: game\.Move/Walk and Trade/Buy both have message type 0x1000",
            await FailAsync());

        Write("Trade/trade.proto", Trade("0x2000"));
        await SucceedAsync("msbuild", "-t:WriteMessageTypes");
        string list = Path.Combine(_directory, "Game", "fastport-types.txt");
        Assert.Equal(["0x1000 game.Move/Walk", "0x2000 Trade/Buy"], await File.ReadAllLinesAsync(list, Token));
        await GenerateAsync(runs: true);
        await GenerateAsync(runs: false);

        Write("Trade/trade.proto", Trade("0x2001"));
        Assert.Matches($@"trade\.proto\(4,\d+\): error {Problem.NumberChanged}: .*0x2001, but 0x2000", await FailAsync());

        // A change of the list is a change of the project.
        await File.WriteAllTextAsync(list, "0x1000 game.Move/Walk\n0x2001 Trade/Buy\n", Token);
        await GenerateAsync(runs: true);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static string Trade(string type) =>
        "syntax = \"proto3\";\nimport \"fastport/options.proto\";\nmessage Goods {}\n"
        + $"service Trade {{ rpc Buy(Goods) returns (Goods) {{ option (fastport.type) = {type}; }} }}";

    // The versions of this repository, which are in the machine's folder of packages: the tests' own build has restored them.
    private static string Project()
    {
        string props = Path.Combine(AppContext.BaseDirectory, "Directory.Packages.props");
        string version = XDocument.Load(props).Descendants("PackageVersion")
            .Single(static package => (string?)package.Attribute("Include") == "Grpc.Tools").Attribute("Version")!.Value;
        string tools = typeof(GenerateServices).Assembly.Location;
        string include = Path.Combine(AppContext.BaseDirectory, "include");
        string build = Path.Combine(AppContext.BaseDirectory, "build", "FastPort.Protocol.props");
        return
            $"""
            <Project Sdk="Microsoft.NET.Sdk">
              <PropertyGroup>
                <TargetFramework>net10.0</TargetFramework>
                <FastPortToolsAssembly>{tools}</FastPortToolsAssembly>
                <FastPortImportPath>{include}</FastPortImportPath>
              </PropertyGroup>
              <ItemGroup>
                <PackageReference Include="Grpc.Tools" Version="{version}" PrivateAssets="all" />
                <Protobuf Include="game.proto;messages/ask.proto" />
                <Protobuf Include="../Trade/trade.proto" ProtoRoot="../Trade" />
              </ItemGroup>
              <Import Project="{build}" />
            </Project>
            """;
    }

    private void WriteGame(string methods) => Write(
        "Game/game.proto",
        "syntax = \"proto3\"; package game;\nimport \"fastport/options.proto\";\nimport \"messages/ask.proto\";\n"
        + $"service Move {{ option (fastport.first_type) = 0x1000; {methods} }}");

    private void Write(string path, string text)
    {
        string file = Path.Combine(_directory, path);
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        File.WriteAllText(file, text);
    }

    // The generated file of game.proto, after a build that has run the task or has not.
    private async Task<string> GenerateAsync(bool runs)
    {
        DateTime before = File.GetLastWriteTimeUtc(Services);
        await SucceedAsync("msbuild", "-restore", "-t:FastPort_GenerateServices");
        Assert.Equal(runs, File.GetLastWriteTimeUtc(Services) != before);
        return await File.ReadAllTextAsync(Services, Token);
    }

    private Task<string> EditAsync() => SucceedAsync(
        "msbuild", "-t:Compile", "-p:DesignTimeBuild=true", "-p:BuildingProject=false", "-p:SkipCompilerExecution=true",
        "-p:ProvideCommandLineArgs=true", "-getItem:Compile");

    private async Task<string> SucceedAsync(params string[] arguments)
    {
        (int code, string output) = await RunAsync(arguments);
        Assert.True(code == 0, output);
        return output;
    }

    private async Task<string> FailAsync()
    {
        (int code, string output) = await RunAsync("msbuild", "-restore", "-t:FastPort_GenerateServices");
        Assert.True(code != 0, output);
        return output;
    }

    private async Task<(int Code, string Output)> RunAsync(params string[] arguments)
    {
        var start = new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", [.. arguments, "-nr:false"])
        {
            WorkingDirectory = Path.Combine(_directory, "Game"),
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };

        // What MSBuild tells the processes that it starts, such as these tests.
        foreach (string name in start.Environment.Keys.Where(
            static name => name.StartsWith("MSBuild", StringComparison.OrdinalIgnoreCase)).ToArray())
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
