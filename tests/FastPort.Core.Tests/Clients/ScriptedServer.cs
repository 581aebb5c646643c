using System.Net;
using System.Net.Sockets;
using FastPort.Framing;

namespace FastPort.Core.Tests.Clients;

/// <summary>A listener whose peers do exactly what a test says, frame by frame.</summary>
internal sealed class ScriptedServer : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    public ScriptedServer()
    {
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen(128);
    }

    public string Endpoint => $"tcp://127.0.0.1:{((IPEndPoint)_listener.LocalEndPoint!).Port}";

    public async Task<ScriptedPeer> AcceptAsync() => new(await _listener.AcceptAsync().InTimeAsync());

    /// <summary>Accepts and answers the Hello.</summary>
    public async Task<ScriptedPeer> WelcomeAsync(uint maxFrameBytes = FrameLimits.Default, uint heartbeatMilliseconds = 0)
    {
        ScriptedPeer peer = await AcceptAsync();
        ScriptedFrame hello = await peer.ReadAsync();
        await peer.WelcomeAsync(hello, maxFrameBytes, heartbeatMilliseconds);
        return peer;
    }

    public void Dispose() => _listener.Dispose();
}

internal readonly record struct ScriptedFrame(FrameHeader Header, byte[] Body);

/// <summary>One accepted connection of a <see cref="ScriptedServer"/>.</summary>
internal sealed class ScriptedPeer(Socket socket) : IDisposable
{
    private readonly NetworkStream _stream = new(socket, ownsSocket: true);

    public async Task<ScriptedFrame> ReadAsync() =>
        await TryReadAsync() ?? throw new EndOfStreamException("The client closed the connection.");

    /// <summary>The next frame; null at the end of the stream, however it came.</summary>
    public async Task<ScriptedFrame?> TryReadAsync()
    {
        byte[] head = new byte[FrameHeader.Size];
        try
        {
            if (await _stream.ReadAtLeastAsync(head, head.Length, throwOnEndOfStream: false).InTimeAsync() < head.Length)
            {
                return null;
            }

            var header = FrameHeader.Read(head);
            byte[] body = new byte[header.Length - FrameHeader.MinimumLength];
            await _stream.ReadExactlyAsync(body).InTimeAsync();
            return new ScriptedFrame(header, body);
        }
        catch (IOException)
        {
            return null;
        }
    }

    /// <summary>Reads until the end of the stream.</summary>
    public async Task<List<ScriptedFrame>> ReadToEndAsync()
    {
        List<ScriptedFrame> frames = [];
        while (await TryReadAsync() is { } frame)
        {
            frames.Add(frame);
        }

        return frames;
    }

    public async Task WriteAsync(ushort type, FrameFlags flags, uint correlation, params byte[] body)
    {
        byte[] frame = new byte[FrameHeader.Size + body.Length];
        new FrameHeader((uint)(FrameHeader.MinimumLength + body.Length), type, flags, FrameHeader.CurrentVersion, correlation).Write(frame);
        body.CopyTo(frame, FrameHeader.Size);
        await _stream.WriteAsync(frame).InTimeAsync();
    }

    public async Task WriteRawAsync(byte[] bytes) => await _stream.WriteAsync(bytes).InTimeAsync();

    public Task ReplyAsync(in ScriptedFrame request, params byte[] body) =>
        WriteAsync(request.Header.Type, FrameFlags.Reply, request.Header.Correlation, body);

    public Task WelcomeAsync(in ScriptedFrame hello, uint maxFrameBytes = FrameLimits.Default, uint heartbeatMilliseconds = 0) =>
        ReplyAsync(hello, Encode(new WelcomeBody(1, "scripted", maxFrameBytes, heartbeatMilliseconds)));

    /// <summary>Welcomes a client that may have gone meanwhile.</summary>
    public async Task TryWelcomeAsync(ScriptedFrame hello)
    {
        try
        {
            await WelcomeAsync(hello);
        }
        catch (IOException)
        {
            // It has gone.
        }
    }

    public static byte[] Encode<TBody>(TBody body)
        where TBody : IFrameBody
    {
        byte[] bytes = new byte[body.Size];
        body.Write(bytes);
        return bytes;
    }

    public void Dispose() => _stream.Dispose();
}
