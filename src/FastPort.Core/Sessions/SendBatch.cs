using FastPort.Framing;
using FastPort.Sessions.Sending;

namespace FastPort.Sessions;

/// <summary>
/// One-way messages in large numbers; see <see cref="Session.BeginBatch"/>. Encoding one costs no lock: the frames are collected beside the
/// session's send queue and appended to it in chunks of 128 KiB, and at the end. Each chunk is sent on its way at once; inside an inline
/// handler of the same session, with its reply. Belongs to the thread that began it; dispose it when all is added.
/// <para>
/// Order: the frames of a batch keep theirs. What the same thread sends on the session by other means meanwhile goes out before the chunk
/// that is being collected.
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
    /// <param name="body">The body, encoded at once.</param>
    /// <returns>
    /// Queued: it is collected, and lost only with the session. Full: the send queue is; dispose the batch, await
    /// <see cref="Session.WhenWritableAsync"/>, begin another. Dropped, Closed, TooLarge, NotReady: as with
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

    /// <summary>Appends what is collected to the send queue and sends it on its way.</summary>
    /// <returns>
    /// Queued, also where nothing was collected; Closed where the session has said Goodbye or ended, and then what was collected is dropped
    /// and counted.
    /// </returns>
    /// <exception cref="ObjectDisposedException">The batch was disposed.</exception>
    public SendStatus Flush() => Writer.Flush();

    /// <summary>
    /// Ends the batch, flushed. Where the session has said Goodbye or ended meanwhile, what is still collected is dropped and counted
    /// (<see cref="Session.MessagesDropped"/>); that is told by <see cref="Flush"/> alone, so call it last where you have to know.
    /// A second call does nothing.
    /// </summary>
    public void Dispose()
    {
        if (!IsOver)
        {
            _writer.End();
        }
    }
}
