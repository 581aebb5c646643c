using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace FastPort.Transports.Epoll.Native;

/// <summary>
/// The Linux calls of the event loops, with the C library's own signatures. After a result of -1
/// <see cref="Marshal.GetLastPInvokeError"/> returns the error. All descriptors are created non-blocking, so only <see cref="EpollWait"/>
/// blocks.
/// </summary>
internal static unsafe partial class Libc
{
    public const int EpollCtlAdd = 1;
    public const int EpollCtlDel = 2;
    public const int EpollCtlMod = 3;
    public const uint EpollIn = 0x1;
    public const uint EpollOut = 0x4;
    public const uint EpollErr = 0x8;
    public const uint EpollHup = 0x10;
    public const uint EpollRdHup = 0x2000;
    public const uint EpollEdge = 0x80000000;

    public const int SockStream = 1;
    public const int NonBlocking = 0x800;
    public const int CloseOnExec = 0x80000;
    public const int NoSignal = 0x4000;
    public const int Peek = 0x2;
    public const int DontWait = 0x40;
    public const int ShutWrite = 1;
    public const int IpProtoTcp = 6;
    public const int SolSocket = 1;
    public const int SoError = 4;
    public const int SoSendBuffer = 7;
    public const int SoKeepAlive = 9;
    public const int SoLinger = 13;
    public const int SoPeerCredentials = 17;
    public const int TcpNoDelay = 1;
    public const int TcpKeepIdle = 4;
    public const int TcpKeepInterval = 5;
    public const int TcpKeepCount = 6;
    public const int TcpUserTimeout = 18;

    [LibraryImport("libc", EntryPoint = "epoll_create1", SetLastError = true)]
    public static partial int EpollCreate(int flags);

    [LibraryImport("libc", EntryPoint = "epoll_ctl", SetLastError = true)]
    public static partial int EpollControl(int epoll, int operation, int descriptor, void* epollEvent);

    [LibraryImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    public static partial int EpollWait(int epoll, void* events, int maximum, int timeoutMilliseconds);

    [LibraryImport("libc", EntryPoint = "eventfd", SetLastError = true)]
    public static partial int EventDescriptor(uint initial, int flags);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    public static partial nint Write(SafeFileHandle descriptor, void* buffer, nint count);

    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    public static partial nint Receive(int descriptor, void* buffer, nint length, int flags);

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    public static partial nint Send(int descriptor, void* buffer, nint length, int flags);

    [LibraryImport("libc", EntryPoint = "sendmsg", SetLastError = true)]
    public static partial nint SendMessage(int descriptor, MessageHeader* message, int flags);

    [LibraryImport("libc", EntryPoint = "socket", SetLastError = true)]
    public static partial int Socket(int family, int type, int protocol);

    [LibraryImport("libc", EntryPoint = "accept4", SetLastError = true)]
    public static partial int Accept(int descriptor, void* address, int* length, int flags);

    [LibraryImport("libc", EntryPoint = "connect", SetLastError = true)]
    public static partial int Connect(int descriptor, void* address, int length);

    [LibraryImport("libc", EntryPoint = "getsockname", SetLastError = true)]
    public static partial int GetSocketName(int descriptor, void* address, int* length);

    [LibraryImport("libc", EntryPoint = "getpeername", SetLastError = true)]
    public static partial int GetPeerName(int descriptor, void* address, int* length);

    [LibraryImport("libc", EntryPoint = "getsockopt", SetLastError = true)]
    public static partial int GetOption(int descriptor, int level, int name, void* value, int* length);

    [LibraryImport("libc", EntryPoint = "setsockopt", SetLastError = true)]
    public static partial int SetOption(int descriptor, int level, int name, void* value, int length);

    [LibraryImport("libc", EntryPoint = "shutdown", SetLastError = true)]
    public static partial int Shutdown(int descriptor, int how);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int descriptor);

    [LibraryImport("libc", EntryPoint = "sched_getaffinity", SetLastError = true)]
    public static partial int GetAffinity(int thread, nint size, void* mask);

    [LibraryImport("libc", EntryPoint = "sched_setaffinity", SetLastError = true)]
    public static partial int SetAffinity(int thread, nint size, void* mask);

    /// <summary>struct iovec.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Vector
    {
        public void* Base;
        public nint Length;
    }

    /// <summary>struct msghdr.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct MessageHeader
    {
        public void* Name;
        public uint NameLength;
        public Vector* Vectors;
        public nint VectorCount;
        public void* Control;
        public nint ControlLength;
        public int Flags;
    }
}
