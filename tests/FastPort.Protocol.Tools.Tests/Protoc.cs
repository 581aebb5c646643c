using System.Diagnostics;
using System.Reflection;
using FastPort.Protocol.Tools.Contracts;
using Xunit;

namespace FastPort.Protocol.Tools.Tests;

/// <summary>Compiles the texts of <c>.proto</c> files with the protoc of Grpc.Tools, as a build does.</summary>
internal sealed class Protoc : IDisposable
{
    private static readonly Dictionary<string, string?> Metadata = typeof(Protoc).Assembly
        .GetCustomAttributes<AssemblyMetadataAttribute>().ToDictionary(static a => a.Key, static a => a.Value, StringComparer.Ordinal);

    private readonly string _directory = Directory.CreateTempSubdirectory("fastport-protoc-").FullName;

    public string this[string name] => Path.Combine(_directory, name);

    /// <summary>A contract with one file, <c>game.proto</c>, whose first four lines are its head: services begin in line 5.</summary>
    public static Contract ReadGame(string services)
    {
        using var protoc = new Protoc();
        return protoc.Read("game.proto", Game(services));
    }

    /// <summary>The text of <c>game.proto</c>.</summary>
    public static string Game(string services) =>
        "syntax = \"proto3\"; package game; option csharp_namespace = \"Game\";\n"
        + "import \"fastport/options.proto\";\n"
        + "message Ask {}\n"
        + "message Answer {}\n"
        + services;

    public Contract Read(string name, string text) => Contract.Read(name, Compile(name, text));

    /// <summary>Writes a file and compiles it.</summary>
    /// <returns>The descriptor set.</returns>
    public byte[] Compile(string name, string text)
    {
        string set = Set(name);
        Directory.CreateDirectory(Path.GetDirectoryName(this[name])!);
        File.WriteAllText(this[name], text);
        var start = new ProcessStartInfo(Metadata["Protoc"]!)
        {
            ArgumentList =
            {
                $"-I{_directory}", $"-I{Path.Combine(AppContext.BaseDirectory, "include")}", $"-I{Metadata["ProtocImports"]}",
                "--include_imports", "--include_source_info", $"--descriptor_set_out={set}", name,
            },
            UseShellExecute = false,
            RedirectStandardError = true,
        };
        using Process process = Process.Start(start)!;
        string errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        Assert.True(process.ExitCode == 0, errors);
        return File.ReadAllBytes(set);
    }

    /// <summary>The path of a file's descriptor set.</summary>
    public string Set(string name) => this[$"{name.Replace('/', '.')}.protoset"];

    public void Dispose() => Directory.Delete(_directory, recursive: true);
}
