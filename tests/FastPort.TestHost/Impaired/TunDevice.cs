using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;

namespace FastPort.TestHost.Impaired;

/// <summary>
/// The end of a link in the network of another process: the packets that network sends into the link are read here, and what is written
/// here arrives there. The device goes with the process that opened it.
/// </summary>
internal sealed unsafe partial class TunDevice
{
    private const string Name = "link0";
    private const int NameSize = 16;
    private const int RequestSize = 40;
    private const int ReadWrite = 0x2;
    private const int CloseOnExec = 0x80000;
    private const int NetworkNamespace = 0x40000000;
    private const nuint SetInterface = 0x400454CA;
    private const short TunWithoutHeader = 0x1001;
    private const int Interrupted = 4;

    private readonly int _descriptor;

    private TunDevice(int descriptor) => _descriptor = descriptor;

    /// <summary>Opens a device in the process's network and brings it up.</summary>
    /// <param name="processId">The process; this one must have the rights of an administrator of its network.</param>
    /// <param name="address">The process's address on the link, with the length of its prefix.</param>
    public static TunDevice Open(int processId, string address)
    {
        TunDevice? device = null;
        Exception? failure = null;

        // A thread of its own: it is in the other network from then on.
        var thread = new Thread(() =>
        {
            try
            {
                Check(Enter(OpenFile($"/proc/{processId}/ns/net", CloseOnExec), NetworkNamespace), "setns");
                device = new TunDevice(OpenFile("/dev/net/tun", ReadWrite | CloseOnExec));
                device.Attach();
                Configure("address", "add", address, "dev", Name);
                Configure("link", "set", Name, "up");
            }
            catch (Exception e)
            {
                failure = e;
            }
        });
        thread.Start();
        thread.Join();
        return failure is null ? device! : throw new InvalidOperationException($"No link to the network of process {processId}.", failure);
    }

    /// <summary>Waits for the next packet of the network; returns its size, or -1 when the network is gone.</summary>
    public int Read(Span<byte> packet)
    {
        fixed (byte* bytes = packet)
        {
            nint size;
            do
            {
                size = ReadFile(_descriptor, bytes, (nuint)packet.Length);
            }
            while (size < 0 && Marshal.GetLastPInvokeError() == Interrupted);
            return (int)size;
        }
    }

    /// <summary>Has a packet arrive in the network; false if the network is gone.</summary>
    public bool TryWrite(ReadOnlySpan<byte> packet)
    {
        fixed (byte* bytes = packet)
        {
            return WriteFile(_descriptor, bytes, (nuint)packet.Length) == packet.Length;
        }
    }

    // struct ifreq: the name, then what is asked for; here the kind of device.
    private void Attach()
    {
        byte* request = stackalloc byte[RequestSize];
        var bytes = new Span<byte>(request, RequestSize);
        bytes.Clear();
        Encoding.ASCII.GetBytes(Name, bytes);
        MemoryMarshal.Write(bytes[NameSize..], TunWithoutHeader);
        Check(Control(_descriptor, SetInterface, request), "TUNSETIFF");
    }

    // A child process has the network of the thread that starts it.
    private static void Configure(params string[] arguments)
    {
        using Process ip = Process.Start("ip", arguments);
        ip.WaitForExit();
        if (ip.ExitCode != 0)
        {
            throw new InvalidOperationException($"ip {string.Join(' ', arguments)} ended with {ip.ExitCode}.");
        }
    }

    private static int OpenFile(string path, int flags) => Check(OpenPath(path, flags), path);

    private static int Check(int result, string what) =>
        result >= 0 ? result : throw new Win32Exception(Marshal.GetLastPInvokeError(), $"{what}: {Marshal.GetLastPInvokeErrorMessage()}");

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int OpenPath(string path, int flags);

    [LibraryImport("libc", EntryPoint = "setns", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Enter(int descriptor, int kind);

    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int Control(int descriptor, nuint request, byte* argument);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint ReadFile(int descriptor, byte* bytes, nuint size);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial nint WriteFile(int descriptor, byte* bytes, nuint size);
}
