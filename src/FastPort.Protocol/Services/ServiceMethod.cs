using Google.Protobuf;

namespace FastPort.Protocol;

/// <summary>
/// A method of a service in a <c>.proto</c> file: its message type and its messages. The build generates one for each method, which the
/// generated client and the generated base class share. Immutable.
/// </summary>
/// <typeparam name="TRequest">The request.</typeparam>
/// <typeparam name="TReply">The reply.</typeparam>
/// <param name="type">Message type, for requests and replies.</param>
/// <param name="fullName">The name in the <c>.proto</c> file, such as <c>game.Move/Walk</c>.</param>
/// <param name="requestParser">The request's parser.</param>
/// <param name="replyParser">The reply's parser.</param>
public sealed class ServiceMethod<TRequest, TReply>(
    ushort type, string fullName, MessageParser<TRequest> requestParser, MessageParser<TReply> replyParser)
    where TRequest : IMessage<TRequest>
    where TReply : IMessage<TReply>
{
    /// <summary>Message type, for requests and replies.</summary>
    public ushort Type { get; } = type;

    /// <summary>The name in the <c>.proto</c> file, such as <c>game.Move/Walk</c>; the handler's name in logs and reports.</summary>
    public string FullName { get; } = fullName ?? throw new ArgumentNullException(nameof(fullName));

    /// <summary>The request's parser.</summary>
    public MessageParser<TRequest> RequestParser { get; } = requestParser ?? throw new ArgumentNullException(nameof(requestParser));

    /// <summary>The reply's parser.</summary>
    public MessageParser<TReply> ReplyParser { get; } = replyParser ?? throw new ArgumentNullException(nameof(replyParser));

    /// <summary>The answer of a service that does not override the method: <see cref="ErrorCode.UnknownType"/>.</summary>
    public RequestRefusedException NotImplemented() =>
        new(ErrorCode.UnknownType, $"{FullName}, message type 0x{Type:X4}, is not implemented here.");

    /// <summary>Name and message type.</summary>
    public override string ToString() => $"{FullName} (0x{Type:X4})";
}
