namespace IndustrialGateway;

/// <summary>Message types of the gateway; types of applications begin at 0x1000.</summary>
internal static class GatewayMessageType
{
    public const ushort ReadTags = 0x1000;

    public const ushort WriteTag = 0x1001;

    public const ushort Health = 0x1002;
}
