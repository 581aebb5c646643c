using System.Runtime.InteropServices;
using FastPort.Transports.Epoll.Native;

namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// An array of struct epoll_event outside the managed heap. The struct is packed on x86-64 (12 bytes) and has its natural layout elsewhere
/// (16 bytes).
/// </summary>
internal sealed unsafe class EpollEvents : IDisposable
{
    public const int Capacity = 256;

    private static readonly bool Packed = RuntimeInformation.ProcessArchitecture is Architecture.X64 or Architecture.X86;
    private static readonly int Stride = Packed ? 12 : 16;
    private static readonly int DataOffset = Packed ? 4 : 8;

    private byte* _events = (byte*)NativeMemory.AllocZeroed((nuint)(Capacity * 16));

    /// <summary>epoll_wait: the number of descriptors that are ready, 0 after the timeout or an error such as an interruption.</summary>
    /// <param name="epoll">The epoll descriptor.</param>
    /// <param name="timeoutMilliseconds">-1: no timeout.</param>
    public int Wait(int epoll, int timeoutMilliseconds) => Math.Max(0, Libc.EpollWait(epoll, _events, Capacity, timeoutMilliseconds));

    /// <summary>One of the events that <see cref="Wait"/> found.</summary>
    public void Read(int index, out uint events, out int descriptor)
    {
        byte* at = _events + (index * Stride);
        events = *(uint*)at;
        descriptor = *(int*)(at + DataOffset);
    }

    /// <summary>epoll_ctl: adds, changes or removes a watched descriptor. False on an error.</summary>
    public static bool Control(int epoll, int operation, int descriptor, uint events = 0)
    {
        byte* at = stackalloc byte[16];
        *(uint*)at = events;
        *(long*)(at + DataOffset) = descriptor;
        return Libc.EpollControl(epoll, operation, descriptor, at) == 0;
    }

    public void Dispose()
    {
        NativeMemory.Free(_events);
        _events = null;
    }
}
