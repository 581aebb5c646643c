using System.Runtime.CompilerServices;

namespace FastPort.WebSockets;

/// <summary>The key of a client's request: 16 bytes in base64 (RFC 6455, 4.1).</summary>
[InlineArray(Length)]
internal struct WebSocketKey
{
    public const int Length = 24;

    private byte _first;
}
