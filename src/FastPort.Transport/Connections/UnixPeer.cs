using System.Runtime.InteropServices;

namespace FastPort;

/// <summary>The process at the other end of a Unix socket, as the kernel knew it when the connection was made.</summary>
/// <param name="ProcessId">Its process id, in this process's namespace; 0 if it is in another.</param>
/// <param name="UserId">Its effective user id.</param>
/// <param name="GroupId">Its effective group id.</param>
// The layout is struct ucred's.
[StructLayout(LayoutKind.Sequential)]
public readonly record struct UnixPeer(int ProcessId, uint UserId, uint GroupId);
