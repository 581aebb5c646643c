using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace FastPort.Transports.Epoll.Native;

/// <summary>
/// Linux error numbers (asm-generic/errno.h), and the runtime's names for them, which the log and the portable transport use.
/// </summary>
internal static class Errno
{
    public const int Interrupted = 4;
    public const int Again = 11;
    public const int InProgress = 115;

    /// <summary>The error of the last system call on this thread.</summary>
    public static int Last => Marshal.GetLastPInvokeError();

    public static SocketError ToSocketError(int error) => error switch
    {
        0 => SocketError.Success,
        1 or 13 => SocketError.AccessDenied,
        4 => SocketError.Interrupted,
        9 or 22 => SocketError.InvalidArgument,
        11 => SocketError.WouldBlock,
        12 or 105 => SocketError.NoBufferSpaceAvailable,
        23 or 24 => SocketError.TooManyOpenSockets,
        32 => SocketError.Shutdown,
        64 or 112 => SocketError.HostDown,
        71 or 92 => SocketError.ProtocolOption,
        88 => SocketError.NotSocket,
        95 => SocketError.OperationNotSupported,
        97 => SocketError.AddressFamilyNotSupported,
        98 => SocketError.AddressAlreadyInUse,
        99 => SocketError.AddressNotAvailable,
        100 => SocketError.NetworkDown,
        101 => SocketError.NetworkUnreachable,
        103 => SocketError.ConnectionAborted,
        104 => SocketError.ConnectionReset,
        107 => SocketError.NotConnected,
        110 => SocketError.TimedOut,
        111 => SocketError.ConnectionRefused,
        113 => SocketError.HostUnreachable,
        2 => SocketError.AddressNotAvailable,
        _ => SocketError.SocketError,
    };

    /// <summary>An exception with the runtime's message for an error.</summary>
    public static SocketException ToException(int error) => new((int)ToSocketError(error));
}
