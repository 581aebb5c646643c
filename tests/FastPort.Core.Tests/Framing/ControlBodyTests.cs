using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Framing;

public sealed class ControlBodyTests
{
    [Theory]
    [InlineData("", "", "")]
    [InlineData("tank-7", "s3cret", "unit test")]
    [InlineData("ü€😀", "", "x")]
    public void Hello_has_the_bytes_protobuf_would_write(string routingId, string token, string name)
    {
        byte[] expected = [.. Wire.Text(1, routingId), .. Wire.Text(2, token), .. Wire.Text(3, name)];

        Assert.Equal(expected, Encode(new HelloBody(routingId, token, name)));
        Assert.True(HelloBody.TryRead(expected, out HelloBody read));
        Assert.Equal(new HelloBody(routingId, token, name), read);
    }

    [Theory]
    [InlineData(0UL, "", 0u, 0u)]
    [InlineData(1UL, "s", 1024u, 127u)]
    [InlineData(ulong.MaxValue, "server", uint.MaxValue, 128u)]
    public void Welcome_has_the_bytes_protobuf_would_write(ulong id, string name, uint max, uint heartbeat)
    {
        byte[] expected = [.. Wire.Number(1, id), .. Wire.Text(2, name), .. Wire.Number(3, max), .. Wire.Number(4, heartbeat)];

        Assert.Equal(expected, Encode(new WelcomeBody(id, name, max, heartbeat)));
        Assert.True(WelcomeBody.TryRead(expected, out WelcomeBody read));
        Assert.Equal(new WelcomeBody(id, name, max, heartbeat), read);
    }

    [Fact]
    public void Codes_and_Cancel_have_the_bytes_protobuf_would_write()
    {
        string text = new('z', 200);
        byte[] code = [.. Wire.Number(1, 14), .. Wire.Text(2, text)];
        Assert.Equal(code, Encode(new CodeBody(ErrorCode.ReplyTooLarge, text)));
        Assert.True(CodeBody.TryRead(code, out CodeBody read));
        Assert.Equal(new CodeBody(ErrorCode.ReplyTooLarge, text), read);

        foreach (uint correlation in new uint[] { 0, 1, 127, 128, 16383, 16384, uint.MaxValue })
        {
            byte[] cancel = Wire.Number(1, correlation);
            Assert.Equal(cancel, Encode(new CancelBody(correlation)));
            Assert.True(CancelBody.TryRead(cancel, out CancelBody cancelled));
            Assert.Equal(correlation, cancelled.Correlation);
        }
    }

    [Fact]
    public void Unknown_fields_are_skipped_and_the_last_of_a_field_counts()
    {
        byte[] body =
        [
            .. Wire.Number(15, 300), .. Wire.Text(1, "first"), 0x29, 1, 2, 3, 4, 5, 6, 7, 8, 0x35, 1, 2, 3, 4,
            .. Wire.Text(9, "unknown"), .. Wire.Varint((1000 << 3) | 0), .. Wire.Varint(5), .. Wire.Text(1, "last"),
        ];

        Assert.True(HelloBody.TryRead(body, out HelloBody hello));
        Assert.Equal(new HelloBody("last", string.Empty, string.Empty), hello);
    }

    [Theory]
    [InlineData("0A")] // length missing
    [InlineData("0A05616263")] // cut short
    [InlineData("0AFFFFFFFF0F61")] // length of 4 GiB
    [InlineData("0AFFFFFFFFFFFFFFFFFF01")] // length of 2^64 - 1
    [InlineData("0801")] // a number where text is expected
    [InlineData("0A02C328")] // no UTF-8
    [InlineData("0A03EDA080")] // a surrogate in UTF-8
    [InlineData("00")] // field number 0
    [InlineData("0B")] // group
    [InlineData("0F")] // wire type 7
    [InlineData("80808080808080808080808001")] // endless tag
    [InlineData("4880808080808080808080")] // endless value
    [InlineData("4901020304050607")] // fixed64 cut short
    [InlineData("4D010203")] // fixed32 cut short
    public void Malformed_bodies_are_refused(string hex)
    {
        Assert.False(HelloBody.TryRead(Convert.FromHexString(hex), out _));
    }

    [Fact]
    public void A_number_where_text_is_expected_is_refused()
    {
        Assert.False(HelloBody.TryRead(Wire.Number(3, 1), out _));
        Assert.False(CodeBody.TryRead(Wire.Number(2, 1), out _));
        Assert.False(WelcomeBody.TryRead(Wire.Number(2, 1), out _));
    }

    [Fact]
    public void Hostile_bytes_never_throw()
    {
        var random = new Random(99);
        int accepted = 0;
        for (int i = 0; i < 200_000; i++)
        {
            byte[] body = new byte[random.Next(24)];
            random.NextBytes(body);
            if (body.Length > 2 && random.Next(3) != 0)
            {
                body[0] = (byte)((random.Next(1, 5) << 3) | random.Next(6));
                body[1] = (byte)random.Next(body.Length + 2);
            }

            accepted += HelloBody.TryRead(body, out HelloBody hello) ? 1 : 0;
            Assert.NotNull(hello.RoutingId);
            WelcomeBody.TryRead(body, out WelcomeBody welcome);
            Assert.NotNull(welcome.ServerName);
            CodeBody.TryRead(body, out CodeBody code);
            Assert.NotNull(code.Text);
            CancelBody.TryRead(body, out _);
        }

        Assert.InRange(accepted, 1000, 199_000);
    }

    private static byte[] Encode<TBody>(TBody body)
        where TBody : IFrameBody
    {
        byte[] bytes = new byte[body.Size];
        body.Write(bytes);
        return bytes;
    }
}
