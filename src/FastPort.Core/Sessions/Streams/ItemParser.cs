using System.Buffers;

namespace FastPort.Sessions.Streams;

/// <summary>
/// Reads one item of a stream on the session's loop, while its body is still in the receive ring. Must not block. A
/// <see cref="RequestRefusedException"/> ends the stream with its code, any other exception with Internal on the handler's side.
/// </summary>
/// <typeparam name="TItem">The item.</typeparam>
/// <param name="body">The body; valid until the call returns.</param>
internal delegate TItem ItemParser<out TItem>(in ReadOnlySequence<byte> body);
