using System.ComponentModel;
using System.Diagnostics;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using System.Text;

namespace FastPort.Tests.Support;

/// <summary>
/// A program of ours as a service manager runs it: as the child of a process named <c>systemd</c>, by which the host knows that it is one,
/// and with a notification socket, on which the test listens.
/// </summary>
[SupportedOSPlatform("linux")]
internal sealed partial class NotifyingProcess : IAsyncDisposable
{
    private const int SigTerm = 15;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    // It ends with its child, and passes the signal to stop on.
    private const string Manager = """
        #!/bin/sh
        "$@" &
        child=$!
        trap 'kill -TERM "$child"' TERM
        wait "$child"
        wait "$child"
        """;

    private readonly string _directory;
    private readonly Socket _socket;
    private readonly Process _manager;
    private readonly Task<string> _output;
    private readonly Task<string> _errors;

    private NotifyingProcess(string directory, Socket socket, Process manager)
    {
        _directory = directory;
        _socket = socket;
        _manager = manager;
        _output = manager.StandardOutput.ReadToEndAsync();
        _errors = manager.StandardError.ReadToEndAsync();
    }

    public static NotifyingProcess Start(string program, string[] arguments, params (string Key, string Value)[] environment)
    {
        string directory = Directory.CreateTempSubdirectory("notify-").FullName;
        string manager = Path.Combine(directory, "systemd");
        File.WriteAllText(manager, Manager);
        File.SetUnixFileMode(manager, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        string path = Path.Combine(directory, "notify");
        var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
        socket.Bind(new UnixDomainSocketEndPoint(path));
        var start = new ProcessStartInfo(manager, ["dotnet", Path.Combine(AppContext.BaseDirectory, program), .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = directory,
        };
        start.Environment["NOTIFY_SOCKET"] = path;
        start.Environment["LatencyStats__OutputDirectory"] = directory;
        foreach ((string key, string value) in environment)
        {
            start.Environment[key] = value;
        }

        return new NotifyingProcess(directory, socket, Process.Start(start)!);
    }

    /// <summary>Whether there is a notification that was not read.</summary>
    public bool HasNotified => _socket.Available != 0;

    /// <summary>The next notification.</summary>
    public async Task<string> NextAsync()
    {
        byte[] datagram = new byte[4096];
        using var limit = new CancellationTokenSource(Limit);
        int size = await _socket.ReceiveAsync(datagram, SocketFlags.None, limit.Token);
        return Encoding.UTF8.GetString(datagram, 0, size);
    }

    /// <summary>Asks the program to stop, as <c>systemctl stop</c> does.</summary>
    public void Stop()
    {
        if (Kill(_manager.Id, SigTerm) != 0)
        {
            throw new Win32Exception();
        }
    }

    /// <summary>Waits for the end. Returns the exit code and what was written.</summary>
    public async Task<(int Code, string Output, string Errors)> EndAsync()
    {
        await _manager.WaitForExitAsync().WaitAsync(Limit);
        return (_manager.ExitCode, await _output, await _errors);
    }

    public async ValueTask DisposeAsync()
    {
        if (!_manager.HasExited)
        {
            _manager.Kill(entireProcessTree: true);
            await _manager.WaitForExitAsync();
        }

        _manager.Dispose();
        _socket.Dispose();
        Directory.Delete(_directory, recursive: true);
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Kill(int process, int signal);
}
