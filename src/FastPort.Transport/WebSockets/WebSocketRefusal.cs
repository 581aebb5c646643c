using System.Text;

namespace FastPort.WebSockets;

/// <summary>The answer to a request that does not begin a WebSocket.</summary>
/// <param name="Status">The status.</param>
/// <param name="Sentence">Why, for the client and the log; ASCII.</param>
/// <param name="Fields">Further header fields, each with its line end.</param>
internal sealed record WebSocketRefusal(string Status, string Sentence, string Fields = "")
{
    /// <summary>The HTTP answer.</summary>
    public byte[] ToAnswer() => Encoding.ASCII.GetBytes(
        $"HTTP/1.1 {Status}\r\n{Fields}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: {Sentence.Length + 1}\r\n\r\n"
        + $"{Sentence}\n");
}
