using System.Buffers.Binary;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// How chunks are protected: by the keys of a token (MSG, CLO) or by certificates (OPN). A chunk has a clear header, then the sequence
/// header, the body and the additional bytes of the protection (OPC 10000-6, 6.7.2). Thread-safe.
/// </summary>
internal abstract class ChunkSecurity : IDisposable
{
    /// <summary>Sequence number and request id.</summary>
    public const int SequenceHeaderBytes = 8;

    /// <summary>No signature and no encryption.</summary>
    public static ChunkSecurity None { get; } = new NoSecurity();

    /// <summary>Whether a chunk's body is sent unchanged, so that it may be borrowed.</summary>
    public virtual bool IsPlain => false;

    /// <summary>The longest body of a chunk.</summary>
    /// <param name="chunkBytes">The largest chunk.</param>
    /// <param name="clearBytes">Bytes of the clear header.</param>
    public abstract int MaxBodyBytes(int chunkBytes, int clearBytes);

    /// <summary>The size of a chunk.</summary>
    /// <param name="clearBytes">Bytes of the clear header.</param>
    /// <param name="bodyBytes">Bytes of the body.</param>
    public abstract int ChunkBytes(int clearBytes, int bodyBytes);

    /// <summary>Writes a protected chunk.</summary>
    /// <param name="clear">The clear header, with the chunk's final size.</param>
    /// <param name="sequenceNumber">The chunk's number.</param>
    /// <param name="requestId">The request.</param>
    /// <param name="body">The body.</param>
    /// <param name="segment">Receives the chunk; exactly <see cref="ChunkBytes"/> long.</param>
    public abstract void Protect(
        ReadOnlySpan<byte> clear, uint sequenceNumber, uint requestId, ReadOnlySpan<byte> body, ArraySegment<byte> segment);

    /// <summary>Verifies and decrypts a chunk. False if it was not protected by these keys.</summary>
    /// <param name="chunk">The chunk.</param>
    /// <param name="clearBytes">Bytes of the clear header.</param>
    /// <param name="scratch">Holds the decrypted bytes; empty before.</param>
    /// <param name="content">The sequence header and the body, in the chunk or in <paramref name="scratch"/>.</param>
    public abstract bool TryUnprotect(ReadOnlySpan<byte> chunk, int clearBytes, MessageBuffer scratch, out ReadOnlySpan<byte> content);

    /// <summary>Releases the keys. They must no longer be used.</summary>
    public virtual void Dispose()
    {
    }

    private sealed class NoSecurity : ChunkSecurity
    {
        public override bool IsPlain => true;

        public override int MaxBodyBytes(int chunkBytes, int clearBytes) => chunkBytes - clearBytes - SequenceHeaderBytes;

        public override int ChunkBytes(int clearBytes, int bodyBytes) => clearBytes + SequenceHeaderBytes + bodyBytes;

        public override void Protect(
            ReadOnlySpan<byte> clear, uint sequenceNumber, uint requestId, ReadOnlySpan<byte> body, ArraySegment<byte> segment)
        {
            Span<byte> chunk = segment;
            clear.CopyTo(chunk);
            BinaryPrimitives.WriteUInt32LittleEndian(chunk[clear.Length..], sequenceNumber);
            BinaryPrimitives.WriteUInt32LittleEndian(chunk[(clear.Length + sizeof(uint))..], requestId);
            body.CopyTo(chunk[(clear.Length + SequenceHeaderBytes)..]);
        }

        public override bool TryUnprotect(
            ReadOnlySpan<byte> chunk, int clearBytes, MessageBuffer scratch, out ReadOnlySpan<byte> content)
        {
            content = chunk[clearBytes..];
            return content.Length >= SequenceHeaderBytes;
        }
    }
}
