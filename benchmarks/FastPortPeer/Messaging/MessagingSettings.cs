namespace FastPortPeer.Messaging;

/// <summary>What is sent, and how the engine runs.</summary>
/// <param name="LockStep">
/// Whether each message is sent back before the next; else they flow one way, as fast as the receiver takes them.
/// </param>
/// <param name="Size">Bytes of a message.</param>
/// <param name="SpinMicroseconds">How long a loop looks for work before it sleeps; null for the engine's own choice.</param>
internal sealed record MessagingSettings(bool LockStep, int Size, int? SpinMicroseconds)
{
    /// <summary>The message, addressed to the client by its routing id.</summary>
    public const ushort MessageType = 0x1000;

    /// <summary>The same message on its way back.</summary>
    public const ushort BackType = 0x1001;

    /// <summary>The client's routing id.</summary>
    public const string ClientId = "client-1";
}
