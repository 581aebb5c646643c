using Google.Protobuf;

namespace FastPort.Protocol.Handlers;

/// <summary>Why a body is refused, for its sender.</summary>
internal static class MalformedBody
{
    /// <summary>The sentence.</summary>
    /// <param name="body">The subject, such as "The body of message 0x1000".</param>
    /// <param name="message">The name of the expected message.</param>
    /// <param name="error">What the parser threw.</param>
    public static string Describe(string body, string message, InvalidProtocolBufferException error) =>
        error.Message.Contains("levels of nesting", StringComparison.Ordinal)
            ? $"{body} is nested more than 100 levels deep, which Protobuf parsers refuse; send a flatter {message} message."
            : $"{body} is not a valid {message} message.";
}
