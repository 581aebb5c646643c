using System.Diagnostics.CodeAnalysis;
using FastPort.Connections;

namespace FastPort.Sessions.Sending;

/// <content>The begin and the end that all writes share.</content>
internal sealed partial class FrameOutput
{
    /// <summary>
    /// One write into the send ring. Its end counts what was written; where a Goodbye has come in between, it changes the status to Closed.
    /// </summary>
    private ref struct RingWrite
    {
        private readonly FrameOutput _output;
        private readonly ref SendStatus _status;
        private readonly bool _mayFollowGoodbye;
        private readonly int _messages;
        private bool _begun;
        private bool _onLoop;

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
        }

        /// <summary>Returns the ring to write into; false if nothing may be written.</summary>
        public bool TryBegin([NotNullWhen(true)] out ArrayPoolCircularBuffer? ring)
        {
            Connection connection = _output._connection;
            ring = connection.BeginWrite();
            if (ring is null)
            {
                return false;
            }

            _begun = true;
            _onLoop = connection.IsLoopWrite;
            return _mayFollowGoodbye || !_output._end.IsAnnounced;
        }

        public readonly void Dispose()
        {
            if (!_begun)
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
