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
    private const int NoNetwork = 64;
    private const int Protocol = 71;

    /// <summary>The error of the last system call on this thread.</summary>
    public static int Last => Marshal.GetLastPInvokeError();

    public static SocketError ToSocketError(int error)
    {
        switch (error)
        {
            // The runtime has no name for these two of the network under an accepted connection, which accept(2) has retried at once.
            case NoNetwork:
                return SocketError.HostDown;
            case Protocol:
                return SocketError.ProtocolOption;
            default:
                Marshal.SetLastPInvokeError(error);
                return new SocketException().SocketErrorCode;
        }
    }

    /// <summary>An exception with the runtime's message for an error.</summary>
    public static SocketException ToException(int error) => new((int)ToSocketError(error));
}
