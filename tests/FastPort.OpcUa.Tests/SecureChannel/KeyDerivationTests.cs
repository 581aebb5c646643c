using FastPort.OpcUa.SecureChannel;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

public sealed class KeyDerivationTests
{
    // The test vector of the TLS 1.2 pseudo-random function that its working group published: the seed is the label, then the seed.
    [Fact]
    public void P_SHA256_gives_the_known_answer()
    {
        byte[] secret = Convert.FromHexString("9bbe436ba940f017b17652849a71db35");
        byte[] seed = [.. "test label"u8, .. Convert.FromHexString("a0ba9f936cda311827a6f796ffd5198c")];

        byte[] derived = KeyDerivation.PSha256(secret, seed, 100);

        Assert.Equal(
            "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af"
            + "0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66",
            Convert.ToHexStringLower(derived));
    }

    [Theory]
    [InlineData(16)]
    [InlineData(32)]
    public void Keys_are_cut_in_the_order_of_the_standard(int encryptionKeyBytes)
    {
        byte[] secret = [1, 2, 3];
        byte[] seed = [4, 5];
        byte[] all = KeyDerivation.PSha256(secret, seed, 32 + encryptionKeyBytes + 16);

        var keys = ChannelKeys.Derive(secret, seed, encryptionKeyBytes);

        Assert.Equal(all, (byte[])[.. keys.Signing, .. keys.Encrypting, .. keys.InitializationVector]);
        Assert.Equal((32, encryptionKeyBytes, 16), (keys.Signing.Length, keys.Encrypting.Length, keys.InitializationVector.Length));
    }
}
