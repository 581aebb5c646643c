using System.Runtime.CompilerServices;
using FastPort.Framing;

namespace FastPort.Sessions.Receiving;

/// <content>
/// The peer of an accepted connection is a newcomer until its Hello is welcomed or, where none is required, until its first other frame.
/// Only Hellos are handled among the newcomers: no handler runs there, so a handler that blocks holds up no accept and no Hello.
/// </content>
internal sealed partial class FrameProtocol
{
    private bool _isNewcomer;

    // Null: the frame is dispatched as any other. False: it is seen again after a resume, on another loop.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool? DispatchNewcomer(in FrameHeader header, long received)
    {
        if (_handshake!.AwaitsHello)
        {
            return RefuseUnlessHello(header, received) ? true : null;
        }

        if (header.Type == ControlType.Hello || !LeaveNewcomers())
        {
            return null;
        }

        YieldTurn();
        return false;
    }

    // Whether the connection moves.
    private bool LeaveNewcomers()
    {
        _isNewcomer = false;
        return !_connection.IsClosing && _connection.LeaveNewcomers();
    }
}
