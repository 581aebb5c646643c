using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Connections;

namespace KestrelPeer;

/// <summary>
/// Echoes FastPort frames with the Reply bit set: whole frames only, as any handler of messages needs them, all frames of one read in one
/// flush.
/// </summary>
internal sealed class EchoHandler : ConnectionHandler
{
    public override async Task OnConnectedAsync(ConnectionContext connection)
    {
        PipeReader input = connection.Transport.Input;
        PipeWriter output = connection.Transport.Output;
        try
        {
            while (true)
            {
                ReadResult read = await input.ReadAsync();
                ReadOnlySequence<byte> unread = read.Buffer;
                FrameEchoStatus status = FrameEcho.Echo(ref unread, output);
                bool ended = read.IsCompleted || status == FrameEchoStatus.Malformed;

                // The frames have been copied, so their memory goes back before the flush, which may wait for a slow peer.
                input.AdvanceTo(unread.Start, unread.End);
                FlushResult flushed = await output.FlushAsync();
                if (ended || flushed.IsCompleted)
                {
                    return;
                }
            }
        }
        catch (ConnectionResetException)
        {
            // The peer went away without a word, which ends the connection like any other end.
        }
    }
}
