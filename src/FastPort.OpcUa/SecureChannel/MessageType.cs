namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// The first four bytes of a chunk as a little-endian number: three letters of the message type and the letter of the chunk, final unless
/// the name says otherwise (OPC 10000-6, 6.7.2.2 and 7.1.2.2).
/// </summary>
internal static class MessageType
{
    public const uint Hello = 'H' | ('E' << 8) | ('L' << 16) | ('F' << 24);
    public const uint Acknowledge = 'A' | ('C' << 8) | ('K' << 16) | ('F' << 24);
    public const uint Error = 'E' | ('R' << 8) | ('R' << 16) | ('F' << 24);
    public const uint Open = 'O' | ('P' << 8) | ('N' << 16) | ('F' << 24);
    public const uint Close = 'C' | ('L' << 8) | ('O' << 16) | ('F' << 24);
    public const uint Message = 'M' | ('S' << 8) | ('G' << 16) | ('F' << 24);
    public const uint MessagePart = 'M' | ('S' << 8) | ('G' << 16) | ('C' << 24);
    public const uint MessageAbort = 'M' | ('S' << 8) | ('G' << 16) | ('A' << 24);
}
