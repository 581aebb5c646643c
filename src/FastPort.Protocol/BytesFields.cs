using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// Who owns the memory of a request's <c>bytes</c> fields. A copy clears and fills fresh memory. Avoiding it pays from a kilobyte on, for
/// handlers that no longer need a payload when they have ended.
/// </summary>
public enum BytesFields
{
    /// <summary>The handler's: they are copied out of the receive buffer and may be kept. The default.</summary>
    Copied,

    /// <summary>
    /// The receive buffer owns it. The fields may be read until the handler ends (a queued one: until its task ends), and be part of
    /// replies and of messages sent by then. It applies to the singular <c>bytes</c> fields of the message itself that are neither required
    /// nor in a <c>oneof</c>; all others, and those of messages within the message, are copied.
    /// <para>
    /// Reading such a field later, also as part of a message that was kept or still waits to be sent, throws
    /// <see cref="ObjectDisposedException"/>: copy what is kept, with <c>ByteString.CopyFrom(field.Span)</c>. Only a
    /// <see cref="ByteString.Span"/> that was taken before and is used later goes unnoticed, and shows what is received next. Pinning such
    /// a field throws <see cref="NotSupportedException"/>.
    /// </para>
    /// </summary>
    Borrowed,
}
