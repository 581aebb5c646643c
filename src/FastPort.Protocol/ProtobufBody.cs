using FastPort.Framing;
using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>A Protocol Buffers message as a frame body: its size is computed once, and it is encoded in place in the send ring.</summary>
/// <param name="message">The message; do not change it until it has been written.</param>
/// <exception cref="ArgumentNullException">The message is null, such as that of a handler which has returned null.</exception>
public readonly struct ProtobufBody(IMessage message) : INamedBody
{
    /// <inheritdoc/>
    public int Size { get; } = (message
        ?? throw new ArgumentNullException(nameof(message), "A body is null instead of a message; an empty message is made with new."))
        .CalculateSize();

    /// <inheritdoc/>
    public string Name => message.Descriptor.Name;

    /// <inheritdoc/>
    public void Write(Span<byte> destination) => message.WriteTo(destination);
}
