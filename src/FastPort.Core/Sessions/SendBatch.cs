using FastPort.Framing;
using FastPort.Sessions.Sending;

namespace FastPort;

/// <summary>
/// Sends many one-way messages; see <see cref="Session.BeginBatch"/>. Encoding a message takes no lock: frames are collected in a separate
/// ring and appended to the session's send queue in chunks of 128 KiB, and at the end. Each chunk is flushed at once; inside an inline
/// handler of the same session, with the handler's reply. Used by the thread that began it only; dispose it after the last message.
/// <para>
/// Order: the frames of a batch keep their order. Messages that the same thread sends on the session by other means in the meantime precede
/// the chunk that is being collected.
/// </para>
/// </summary>
public readonly ref struct SendBatch
{
    private readonly BatchWriter _writer;
    private readonly int _number;

    internal SendBatch(FrameOutput output, bool solicited)
    {
        _writer = output.BeginBatch(solicited);
        _number = _writer.Ended;
    }

    private bool IsOver => _writer is null || _writer.Ended != _number;

    private BatchWriter Writer
    {
        get
        {
            ObjectDisposedException.ThrowIf(IsOver, typeof(SendBatch));
            return _writer;
        }
    }

    /// <summary>Adds a message.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; encoded at once.</param>
    /// <returns>
    /// Queued: the message is collected, and lost only if the session ends. Full: the send queue is full; dispose the batch, await
    /// <see cref="Session.WhenWritableAsync"/> and begin another. Dropped, Closed, TooLarge, NotReady: as with
    /// <see cref="Session.TrySend{TBody}"/>.
    /// </returns>
    /// <exception cref="ObjectDisposedException">The batch was disposed.</exception>
    public SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct => Writer.TrySend(type, in body);

    /// <summary>Adds a message.</summary>
    /// <param name="type">Message type.</param>
    /// <param name="body">The body; copied.</param>
    /// <exception cref="ObjectDisposedException">The batch was disposed.</exception>
    public SendStatus TrySend(ushort type, scoped ReadOnlySpan<byte> body) => Writer.TrySend(type, new RawBody(body));

    /// <summary>Appends the collected messages to the send queue and flushes it.</summary>
    /// <returns>
    /// Queued, also if no message was collected. Closed if the session has said Goodbye or ended; the collected messages are then dropped
    /// and counted.
    /// </returns>
    /// <exception cref="ObjectDisposedException">The batch was disposed.</exception>
    public SendStatus Flush() => Writer.Flush();

    /// <summary>
    /// Flushes and ends the batch. If the session has said Goodbye or ended, the collected messages are dropped and counted
    /// (<see cref="Session.MessagesDropped"/>). Only <see cref="Flush"/> reports that, so call it last if you need to know. A second call
    /// does nothing.
    /// </summary>
    public void Dispose()
    {
        if (!IsOver)
        {
            _writer.End();
        }
    }
}
