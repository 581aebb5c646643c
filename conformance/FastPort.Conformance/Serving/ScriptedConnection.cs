using System.Threading.Channels;
using FastPort.Conformance.Wire;
using FastPort.Connections;

namespace FastPort.Conformance.Serving;

/// <summary>A client's connection: sends any bytes, and keeps the client's frames until a step of the case takes them.</summary>
internal sealed class ScriptedConnection(Connection connection, Action<ScriptedConnection> opened) : IConnectionProtocol
{
    private readonly Channel<Frame> _frames = Channel.CreateUnbounded<Frame>(new UnboundedChannelOptions { SingleReader = true });
    private readonly FrameRules _rules = new();
    private byte[] _rest = [];
    private CaseFailureException? _violation;
    private bool _isEnding;

    /// <summary>The frames that no step has taken yet; completed when the client has ended its output.</summary>
    public ChannelReader<Frame> Frames => _frames.Reader;

    /// <summary>The extensions that the Hello asked for.</summary>
    public uint Offered { get; private set; }

    public void OnOpened(Connection opening) => opened(this);

    public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
    {
        byte[] received = new byte[input.Length];
        input.CopyTo(0, received);
        input.Consume(received.Length);
        _rest = [.. _rest, .. received];
        try
        {
            ReadOnlySpan<byte> unread = _rest;
            while (_violation is null && Frame.TryTake(ref unread) is { } frame)
            {
                _rules.Check(frame);
                if (MessageKind.Get("Hello").Fits(frame))
                {
                    Offered = uint.Parse(
                        Values.TextOf(MessageBody.Decode(MessageKind.Get("Hello").Fields, frame.Body)["extensions"]),
                        System.Globalization.CultureInfo.InvariantCulture);
                }

                _frames.Writer.TryWrite(frame);
            }

            _rest = unread.ToArray();
        }
        catch (CaseFailureException violation)
        {
            // Frames before it are taken first.
            _violation = violation;
            _frames.Writer.TryComplete(violation);
        }

        return ReceiveOutcome.Continue;
    }

    public void OnInputEnded(bool truncated)
    {
        Complete();
        connection.Close(CloseReason.PeerClosed);
    }

    public void OnClosed(CloseReason reason) => Complete();

    /// <summary>From the next frame on the client may send frames of these extensions, up to this size.</summary>
    public void Agree(uint extensions, uint maxFrameBytes) => _rules.Agree(extensions & Offered, maxFrameBytes);

    /// <summary>Sends bytes, if the connection is still there.</summary>
    public void Send(ReadOnlySpan<byte> bytes)
    {
        if (connection.BeginWrite() is not { } output)
        {
            return;
        }

        try
        {
            output.Write(bytes);
        }
        finally
        {
            connection.EndWrite();
        }

        connection.FlushNow();
    }

    /// <summary>Ends the connection in order, after the bytes that were sent.</summary>
    public void End()
    {
        _isEnding = true;
        connection.Close(CloseReason.LocalClosed);
    }

    /// <summary>Ends the connection at once, without what still waits to be sent.</summary>
    public Task CutAsync()
    {
        _isEnding = true;
        connection.Abort(CloseReason.LocalClosed);
        return connection.Closed;
    }

    private void Complete() => _frames.Writer.TryComplete(
        _rest.Length == 0 || _isEnding
            ? null
            : new CaseFailureException($"The client ended its output after {_rest.Length} bytes of a frame."));
}
