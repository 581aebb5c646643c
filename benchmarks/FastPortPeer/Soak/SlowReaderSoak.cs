using FastPort;
using System.Net;
using System.Net.Sockets;
using FastPort.Framing;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPortPeer.Soak;

/// <summary>
/// A peer that reads far more slowly than the server could send: a bare socket that asks for a stream, takes a little of it at a time, and
/// has to get all of it and the reply at its end.
/// </summary>
internal sealed class SlowReaderSoak(string serverEndpoint) : SoakLoad("slow reader", serverEndpoint)
{
    private const int StreamMessages = 4000;
    private const int PayloadBytes = 1024;
    private const int PieceBytes = 32 * 1024;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    protected override async Task RunRoundsAsync(CancellationToken stop)
    {
        var endpoint = Endpoint.Parse(ServerEndpoint);
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = PieceBytes };
        await socket.ConnectAsync(IPAddress.Parse(endpoint.Host), endpoint.Port);
        uint correlation = 0;
        while (!stop.IsCancellationRequested)
        {
            await socket.SendAsync(Request(++correlation));
            Account.Sent(StreamMessages);
            await ReadStreamAsync(socket, correlation);
        }
    }

    private static byte[] Request(uint correlation)
    {
        byte[] body = new Source { Messages = StreamMessages, PayloadBytes = PayloadBytes }.ToByteArray();
        byte[] frame = new byte[FrameHeader.Size + body.Length];
        new FrameHeader(
            (uint)(frame.Length - FrameHeader.LengthFieldSize), DiagnosticType.Source, FrameFlags.None, FrameHeader.CurrentVersion,
            correlation).Write(frame);
        body.CopyTo(frame, FrameHeader.Size);
        return frame;
    }

    private async Task ReadStreamAsync(Socket socket, uint correlation)
    {
        byte[] buffer = new byte[PieceBytes + FrameHeader.Size + PayloadBytes];
        int held = 0;
        while (true)
        {
            await Task.Delay(Pause);
            int count = await socket.ReceiveAsync(buffer.AsMemory(held, PieceBytes));
            if (count == 0)
            {
                throw new PeerException("The server closed the connection of a slow reader.");
            }

            held += count;
            int taken = 0;
            bool ended = false;
            while (held - taken >= FrameHeader.Size && !ended)
            {
                FrameHeader header = FrameHeader.Read(buffer.AsSpan(taken));
                if (held - taken < header.FrameSize)
                {
                    break;
                }

                ended = IsEnd(header, correlation);
                taken += (int)header.FrameSize;
            }

            buffer.AsSpan(taken, held - taken).CopyTo(buffer);
            held -= taken;
            if (ended)
            {
                return;
            }
        }
    }

    private bool IsEnd(in FrameHeader header, uint correlation)
    {
        if (header is { Type: DiagnosticType.Sink, BodySize: PayloadBytes })
        {
            Account.Arrived();
            return false;
        }

        return header is { Type: DiagnosticType.Source, Flags: FrameFlags.Reply } && header.Correlation == correlation
            ? true
            : throw new PeerException($"A slow reader got a frame it did not ask for: {header}.");
    }
}
