using FastPort.Protocol;
using Google.Protobuf;

namespace FastPortPeer.Soak;

/// <summary>Echo bodies of random content and of sizes as they come in life: most are small, some are large.</summary>
internal static class EchoBytes
{
    private static readonly int[] LargestSizes = [64, 64, 64, 1024, 1024, 8 * 1024, 64 * 1024];

    public static byte[] Next(Random random)
    {
        byte[] payload = new byte[random.Next(LargestSizes[random.Next(LargestSizes.Length)])];
        random.NextBytes(payload);
        return new Echo { Payload = UnsafeByteOperations.UnsafeWrap(payload) }.ToByteArray();
    }
}
