using FastPort.Connections;

namespace FastPort.Sessions.Sending;

/// <content>The begin and the end that all writes share.</content>
internal sealed partial class FrameOutput
{
    /// <summary>
    /// One write into the send ring. Its end counts what was written; where a Goodbye has come in between, it changes the status to Closed.
    /// </summary>
    private readonly ref struct RingWrite
    {
        private readonly FrameOutput _output;
        private readonly ArrayPoolCircularBuffer? _ring;
        private readonly ref SendStatus _status;
        private readonly bool _mayFollowGoodbye;
        private readonly bool _onLoop;
        private readonly int _messages;

        /// <param name="output">The output.</param>
        /// <param name="status">Closed at first. Set to Queued once everything is written; if the body throws, it stays Closed.</param>
        /// <param name="mayFollowGoodbye">Whether the frame belongs to a request of the peer, or to a call that was made before.</param>
        /// <param name="messages">Number of frames.</param>
        public RingWrite(FrameOutput output, ref SendStatus status, bool mayFollowGoodbye = false, int messages = 1)
        {
            _output = output;
            _status = ref status;
            _mayFollowGoodbye = mayFollowGoodbye;
            _messages = messages;
            _ring = output._connection.BeginWrite();
            _onLoop = _ring is not null && output._connection.IsLoopWrite;
        }

        /// <summary>The ring to write into; null if nothing may be written.</summary>
        public ArrayPoolCircularBuffer? Ring => _mayFollowGoodbye || !_output._end.IsAnnounced ? _ring : null;

        public void Dispose()
        {
            if (_ring is null)
            {
                return;
            }

            if (_mayFollowGoodbye)
            {
                _output._connection.EndWrite();
            }
            else if (!_output._connection.TryEndWrite())
            {
                _status = SendStatus.Closed;
                return;
            }

            if (_status == SendStatus.Queued)
            {
                _output.CountSent(_onLoop, _messages);
            }
        }
    }
}
