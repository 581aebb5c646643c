namespace FastPort.Framing;

/// <summary>The message types the session layer itself speaks. Everything else belongs to registered handlers.</summary>
public static class ControlType
{
    /// <summary>Identifies a session; reply Welcome.</summary>
    public const ushort Hello = 0x0001;

    /// <summary>Sign of life, empty both ways.</summary>
    public const ushort Ping = 0x0002;

    /// <summary>One-way: no new requests after this.</summary>
    public const ushort Goodbye = 0x0003;

    /// <summary>One-way: the requester no longer wants a reply.</summary>
    public const ushort Cancel = 0x0009;

    /// <summary>The last type reserved for the framework.</summary>
    public const ushort LastReserved = 0x00FF;

    /// <summary>The first type an embedding application may use.</summary>
    public const ushort FirstApplication = 0x1000;
}
