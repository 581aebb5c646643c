using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// The owner of the memory of a request's <c>bytes</c> fields. A copy allocates, clears and fills an array; avoiding it is worthwhile from
/// 1 KiB on, for handlers that do not need the payload after they have ended.
/// </summary>
public enum BytesFields
{
    /// <summary>The handler owns it: the fields are copied from the receive buffer and may be kept. The default.</summary>
    Copied,

    /// <summary>
    /// The receive buffer owns it. The fields may be read until the handler ends (a queued handler: until its task ends), and used in
    /// replies and messages that are sent before that. Applies to the singular <c>bytes</c> fields of the message itself that are neither
    /// required nor in a <c>oneof</c>; all other fields, and those of nested messages, are copied.
    /// <para>
    /// Reading such a field later, also as part of a message that was kept or still waits to be sent, throws
    /// <see cref="ObjectDisposedException"/>: copy a field to keep it, with <c>ByteString.CopyFrom(field.Span)</c>. A
    /// <see cref="ByteString.Span"/> taken before and used later is not detected; it shows bytes received later. Pinning such a field
    /// throws <see cref="NotSupportedException"/>.
    /// </para>
    /// </summary>
    Borrowed,
}
