using System.Globalization;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text.Json;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Reports;

/// <summary>Versions of the software that is compared with, and that its programs stand on, as far as they are there.</summary>
internal static class PeerVersions
{
    private delegate void ZmqVersion(out int major, out int minor, out int patch);

    /// <summary>All of them in one line.</summary>
    public static async Task<string> ReadAsync(Workbench bench, CancellationToken cancellation)
    {
        string node = Path.Combine(bench.Programs.Root, "tests", "FastPort.Interop.Tests", "node", "node_modules");
        string typeScript = Path.Combine(bench.Programs.Root, "benchmarks", "TypeScriptPeer", "node_modules");
        string?[] versions =
        [
            Zmq(), OpenSsl(), await NodeAsync(bench, cancellation), Package(Path.Combine(node, "node-opcua", "package.json")),
            Package(Path.Combine(typeScript, "ws", "package.json")), Package(Path.Combine(typeScript, "socket.io", "package.json")),
        ];
        return string.Join(", ", versions.Where(static version => version is not null));
    }

    private static string? Zmq()
    {
        if (!NativeLibrary.TryLoad("libzmq.so.5", out nint library))
        {
            return null;
        }

        try
        {
            var version = Marshal.GetDelegateForFunctionPointer<ZmqVersion>(NativeLibrary.GetExport(library, "zmq_version"));
            version(out int major, out int minor, out int patch);
            return string.Create(CultureInfo.InvariantCulture, $"libzmq {major}.{minor}.{patch}");
        }
        finally
        {
            NativeLibrary.Free(library);
        }
    }

    // 0xMNN00PP0 since OpenSSL 3: OPENSSL_VERSION_NUMBER(3).
    private static string? OpenSsl()
    {
        if (!OperatingSystem.IsLinux())
        {
            return null;
        }

        long version = SafeEvpPKeyHandle.OpenSslVersion;
        return string.Create(CultureInfo.InvariantCulture, $"OpenSSL {version >> 28}.{(version >> 20) & 0xFF}.{(version >> 4) & 0xFF}");
    }

    private static async Task<string?> NodeAsync(Workbench bench, CancellationToken cancellation)
    {
        if (ProgramLocator.FindTool("node") is not { } node)
        {
            return null;
        }

        using ChildProcess process = bench.Children.Start([node, "--version"], bench.TemporaryFolder);
        await process.WaitForExitAsync(cancellation);
        return process.ExitCode == 0 ? $"Node.js {process.Output().Trim().TrimStart('v')}" : null;
    }

    private static string? Package(string file)
    {
        if (!File.Exists(file))
        {
            return null;
        }

        using JsonDocument package = JsonDocument.Parse(File.ReadAllText(file));
        return $"{package.RootElement.GetProperty("name").GetString()} {package.RootElement.GetProperty("version").GetString()}";
    }
}
