using System.Buffers.Binary;
using System.Runtime.InteropServices;
using FastPort.Connections;
using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// Writes messages as chunks. Thread-safe: <see cref="_gate"/> is held from the first number of a message to the end of its last write, so
/// that chunks of two messages never mix and the numbers leave in order.
/// <para>
/// Lock order: <see cref="_gate"/>, then the connection's write. A write holds one chunk, which is sent while the next one is encrypted.
/// </para>
/// </summary>
/// <param name="connection">The connection.</param>
/// <param name="maxSendBytes">Its <see cref="ConnectionSettings.MaxSendBytes"/>.</param>
internal sealed class ChunkWriter(Connection connection, long maxSendBytes)
{
    // Type, size, channel and token.
    private const int SymmetricHeaderBytes = 16;

    // From this size on, the body of an unprotected chunk is sent in place.
    private const int BorrowFrom = 32 * 1024;

    // Below this a piece of such a body is copied.
    private const int BorrowPieceFrom = 16 * 1024;

    private readonly Lock _gate = new();

    // Buffers whose lent memory the connection has returned. Also their lock, taken by the thread that has sent the last byte.
    private readonly Stack<MessageBuffer> _returned = [];
    private SequenceNumbers _numbers;

    // Null at the end of the channel: its keys are gone.
    private ChunkSecurity? _security = ChunkSecurity.None;
    private uint _channelId;
    private uint _tokenId;
    private int _chunkBytes = ChannelLimits.MinChunkBytes;
    private long _maxMessageBytes = long.MaxValue;
    private long _maxChunks = long.MaxValue;

    /// <summary>Sets the sizes that were agreed on.</summary>
    public void SetLimits(ChannelLimits limits)
    {
        lock (_gate)
        {
            _chunkBytes = limits.ChunkBytes;
            _maxMessageBytes = limits.MaxSendMessageBytes == 0 ? long.MaxValue : limits.MaxSendMessageBytes;
            _maxChunks = limits.MaxSendChunks == 0 ? long.MaxValue : limits.MaxSendChunks;
        }
    }

    /// <summary>From the next message on, chunks carry this token. When the call returns, no chunk is protected by another one.</summary>
    public void SetToken(uint channelId, ChannelToken token)
    {
        lock (_gate)
        {
            (_channelId, _tokenId, _security) = (channelId, token.Id, token.Security);
        }
    }

    /// <summary>The channel has ended. When the call returns, tokens are no longer used.</summary>
    public void End()
    {
        lock (_gate)
        {
            _security = null;
        }
    }

    /// <summary>Writes a message of the connection itself: Hello, Acknowledge or Error.</summary>
    public void WriteTransportMessage<T>(uint type, in T body)
        where T : struct, IStructure
    {
        using var message = new MessageBuffer(connection.MessagePool);
        var encoder = new BinaryEncoder(message);
        encoder.Write(type);
        encoder.Write(0);
        encoder.WriteStructure(body);
        encoder.Complete();
        if (connection.BeginWrite() is not { } ring)
        {
            return;
        }

        try
        {
            Span<byte> chunk = ring.GetSpan(message.Length);
            message.Written.CopyTo(chunk);
            BinaryPrimitives.WriteInt32LittleEndian(chunk[sizeof(uint)..], message.Length);
            ring.Advance(message.Length);
        }
        finally
        {
            connection.EndWrite();
        }
    }

    /// <summary>Writes an OpenSecureChannel message, which is one chunk. False if too much waits to be sent.</summary>
    /// <param name="clear">The clear header; its size is set here.</param>
    /// <param name="security">The protection by certificates.</param>
    /// <param name="requestId">The request.</param>
    /// <param name="body">The message.</param>
    public bool WriteOpen(Span<byte> clear, ChunkSecurity security, uint requestId, ReadOnlySpan<byte> body)
    {
        lock (_gate)
        {
            if (connection.BeginWrite() is not { } ring)
            {
                // The end of the connection is reported otherwise.
                return true;
            }

            try
            {
                if (!HasRoom(ring, security.ChunkBytes(clear.Length, body.Length)))
                {
                    return false;
                }

                WriteChunk(ring, clear, security, requestId, body);
                return true;
            }
            finally
            {
                connection.EndWrite();
            }
        }
    }

    /// <summary>
    /// Writes a message. The result says why it was not written: BadEncodingLimitsExceeded if it exceeds what the peer accepts or may ever
    /// wait, BadTcpNotEnoughResources if too much waits now.
    /// </summary>
    /// <param name="type"><see cref="MessageType.Message"/> or <see cref="MessageType.Close"/>.</param>
    /// <param name="requestId">The request.</param>
    /// <param name="message">
    /// The message. If the result is Good, it may have been replaced by an empty buffer: the connection then owns the old one.
    /// </param>
    public StatusCode Write(uint type, uint requestId, ref MessageBuffer message)
    {
        lock (_gate)
        {
            if (_security is not { } security)
            {
                return StatusCodes.BadConnectionClosed;
            }

            int perChunk = security.MaxBodyBytes(_chunkBytes, SymmetricHeaderBytes);
            long length = message.TotalLength;
            long chunks = Math.Max(1, (length + perChunk - 1) / perChunk);
            if (length > _maxMessageBytes || chunks > _maxChunks)
            {
                return StatusCodes.BadEncodingLimitsExceeded;
            }

            long room = ((chunks - 1) * security.ChunkBytes(SymmetricHeaderBytes, perChunk))
                + security.ChunkBytes(SymmetricHeaderBytes, (int)(length - ((chunks - 1) * perChunk)));
            if (room > maxSendBytes)
            {
                // There is never room for it, even if nothing waits.
                return StatusCodes.BadEncodingLimitsExceeded;
            }

            return security.IsPlain && length >= BorrowFrom
                ? WriteBorrowed(type, requestId, ref message, perChunk, room)
                : WriteCopied(type, requestId, message.Written, security, perChunk, room);
        }
    }

    private StatusCode WriteCopied(
        uint type, uint requestId, ReadOnlySpan<byte> rest, ChunkSecurity security, int perChunk, long room)
    {
        Span<byte> clear = stackalloc byte[SymmetricHeaderBytes];
        for (bool isFirst = true; ; isFirst = false)
        {
            if (connection.BeginWrite() is not { } ring)
            {
                return StatusCodes.BadConnectionClosed;
            }

            int count = Math.Min(rest.Length, perChunk);
            try
            {
                if (isFirst && !HasRoom(ring, room))
                {
                    return StatusCodes.BadTcpNotEnoughResources;
                }

                if (!isFirst && security.ChunkBytes(SymmetricHeaderBytes, count) > ring.MaximumCapacity)
                {
                    AbortInMessage();
                    return StatusCodes.BadConnectionClosed;
                }

                SetHeader(clear, count == rest.Length ? type : MessageType.MessagePart);
                WriteChunk(ring, clear, security, requestId, rest[..count]);
            }
            finally
            {
                connection.EndWrite();
            }

            rest = rest[count..];
            if (rest.IsEmpty)
            {
                return StatusCodes.Good;
            }

            connection.Flush();
        }
    }

    // Whether a whole message may wait. Only this side adds bytes, so there is then room for each of its chunks. The ring's limit is that
    // of the moment when the write began: more may have been sent since.
    private bool HasRoom(ArrayPoolCircularBuffer ring, long room) =>
        connection.PendingBytes + room <= maxSendBytes && room <= ring.MaximumCapacity;

    // Cannot happen, since the room was checked. A part of a message must not be followed by others.
    private void AbortInMessage() =>
        connection.Abort(new CloseReason(CloseKind.Internal, "A message did not fit the bytes that may wait to be sent."));

    private StatusCode WriteBorrowed(uint type, uint requestId, ref MessageBuffer message, int perChunk, long room)
    {
        if (connection.BeginWrite() is not { } ring)
        {
            return StatusCodes.BadConnectionClosed;
        }

        try
        {
            if (!HasRoom(ring, room))
            {
                return StatusCodes.BadTcpNotEnoughResources;
            }

            WriteBorrowed(ring, type, requestId, message, perChunk);
            message = TakeReturned() ?? new MessageBuffer(message.Pool, message.Length);
            return StatusCodes.Good;
        }
        finally
        {
            connection.EndWrite();
        }
    }

    private MessageBuffer? TakeReturned()
    {
        lock (_returned)
        {
            return _returned.TryPop(out MessageBuffer? buffer) ? buffer : null;
        }
    }

    private static void Return(MessageBuffer buffer)
    {
        buffer.Clear(keepBytes: 0);
        lock (buffer.LentBy!)
        {
            buffer.LentBy.Push(buffer);
        }
    }

    // The connection sends the body in place. With the last piece, the message is returned.
    private void WriteBorrowed(ArrayPoolCircularBuffer ring, uint type, uint requestId, MessageBuffer message, int perChunk)
    {
        const int HeaderBytes = SymmetricHeaderBytes + ChunkSecurity.SequenceHeaderBytes;
        message.LentBy = _returned;
        long total = message.TotalLength;
        for (long sent = 0; sent < total;)
        {
            int left = (int)Math.Min(total - sent, perChunk);
            Span<byte> header = ring.GetSpan(HeaderBytes);
            SetHeader(header, sent + left == total ? type : MessageType.MessagePart);
            BinaryPrimitives.WriteInt32LittleEndian(header[sizeof(uint)..], HeaderBytes + left);
            BinaryPrimitives.WriteUInt32LittleEndian(header[SymmetricHeaderBytes..], _numbers.Next());
            BinaryPrimitives.WriteUInt32LittleEndian(header[(SymmetricHeaderBytes + sizeof(uint))..], requestId);
            ring.Advance(HeaderBytes);
            while (left > 0)
            {
                ReadOnlyMemory<byte> piece = message.PieceAt(sent, left);
                (sent, left) = (sent + piece.Length, left - piece.Length);
                if (!TryWritePiece(ring, piece, isLast: sent == total, message))
                {
                    AbortInMessage();
                    return;
                }
            }
        }
    }

    private bool TryWritePiece(ArrayPoolCircularBuffer ring, ReadOnlyMemory<byte> piece, bool isLast, MessageBuffer message)
    {
        if (isLast)
        {
            return connection.TryWriteBorrowed(piece, static state => Return((MessageBuffer)state!), message);
        }

        if (piece.Length >= BorrowPieceFrom)
        {
            return connection.TryWriteBorrowed(piece, release: null, state: null);
        }

        piece.Span.CopyTo(ring.GetSpan(piece.Length));
        ring.Advance(piece.Length);
        return true;
    }

    private void SetHeader(Span<byte> clear, uint type)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(clear, type);
        BinaryPrimitives.WriteUInt32LittleEndian(clear[8..], _channelId);
        BinaryPrimitives.WriteUInt32LittleEndian(clear[12..], _tokenId);
    }

    private void WriteChunk(
        ArrayPoolCircularBuffer ring, Span<byte> clear, ChunkSecurity security, uint requestId, ReadOnlySpan<byte> body)
    {
        int size = security.ChunkBytes(clear.Length, body.Length);
        BinaryPrimitives.WriteInt32LittleEndian(clear[sizeof(uint)..], size);
        MemoryMarshal.TryGetArray(ring.GetMemory(size), out ArraySegment<byte> room);
        security.Protect(clear, _numbers.Next(), requestId, body, room[..size]);
        ring.Advance(size);
    }
}
