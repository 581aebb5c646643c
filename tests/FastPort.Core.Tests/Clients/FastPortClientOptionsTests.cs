using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed class FastPortClientOptionsTests
{
    [Theory]
    [InlineData(-1, null, "FastPortClient:Loops is -1; ", "0 (one per core) to 256.")]
    [InlineData(257, null, "FastPortClient:Loops is 257; ", "0 (one per core) to 256.")]
    [InlineData(0, -1, "FastPortClient:SpinMicroseconds is -1; ", "0 to 1000000, or none for adaptive.")]
    [InlineData(0, 1_000_001, "FastPortClient:SpinMicroseconds is 1000001; ", "0 to 1000000, or none for adaptive.")]
    public void A_wrong_value_is_named_with_its_key_and_the_allowed_range(int loops, int? spinMicroseconds, string value, string allowed)
    {
        var options = new FastPortClientOptions { Loops = loops, SpinMicroseconds = spinMicroseconds };

        string problem = Assert.Single(options.Validate());

        Assert.StartsWith(value, problem, StringComparison.Ordinal);
        Assert.EndsWith(allowed, problem, StringComparison.Ordinal);
        Assert.Equal(problem, Assert.Throws<FastPortOptionsException>(() => new FastPortClient(options)).Message);
    }

    public static TheoryData<string> UnusableNames => [
        new string('x', 257), "line\nbreak", "right-to-left \u202e", "line\u2028separator", "paragraph\u2029separator"];

    [Theory]
    [MemberData(nameof(UnusableNames))]
    [InlineData("$tank")]
    public void A_routing_id_that_no_server_takes_is_refused(string routingId)
    {
        string problem = Assert.Single(new FastPortClientOptions { RoutingId = routingId }.Validate());

        Assert.StartsWith("FastPortClient:RoutingId is '", problem, StringComparison.Ordinal);
        Assert.EndsWith(
            "; give at most 256 characters, none of category Cc, Cf, Zl or Zp, not beginning with '$'; empty for none.", problem,
            StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(UnusableNames))]
    public void A_name_that_no_server_takes_is_refused(string name)
    {
        string problem = Assert.Single(new FastPortClientOptions { ClientName = name }.Validate());

        Assert.StartsWith("FastPortClient:ClientName is '", problem, StringComparison.Ordinal);
        Assert.EndsWith(
            "; give at most 256 characters, none of category Cc, Cf, Zl or Zp; empty for none.", problem, StringComparison.Ordinal);
    }

    [Fact]
    public void Names_that_a_server_takes_are_allowed() =>
        Assert.Empty(new FastPortClientOptions { RoutingId = new string('ü', 256), ClientName = "$ J. O'Neil 日本 🚜" }.Validate());

    [Theory]
    [InlineData(null, "", "FastPortClient:Token is empty; give a string, empty for none.")]
    [InlineData("", null, "FastPortClient:TokenFile is empty; give a string, empty for none.")]
    public void A_token_that_is_null_is_refused(string? token, string? file, string expected) =>
        Assert.Equal(expected, Assert.Single(new FastPortClientOptions { Token = token!, TokenFile = file! }.Validate()));

    public static TheoryData<Action<TlsClientOptions>> TlsValues => new()
    {
        static tls => tls.AuthorityFile = "ca.pem",
        static tls => tls.ServerName = "fastport",
        static tls => tls.Pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        static tls => tls.CertificateFile = "me.pem",
    };

    [Theory]
    [MemberData(nameof(TlsValues))]
    public void Tls_without_an_encrypted_endpoint_is_refused(Action<TlsClientOptions> set)
    {
        foreach (string endpoint in (string[])["tcp://127.0.0.1:6628", "unix:///run/fastport.sock", "inproc://name"])
        {
            var options = new FastPortClientOptions { Endpoint = endpoint };
            set(options.Tls);

            Assert.Equal(
                "FastPortClient:Tls is set, but the endpoint is not tls:// or wss://; give one, as tls://127.0.0.1:6628, or remove the "
                    + "section.",
                Assert.Single(options.Validate()));
        }

        var encrypted = new FastPortClientOptions { Endpoint = "tls://127.0.0.1" };
        set(encrypted.Tls);
        Assert.Empty(encrypted.Validate());
    }

    [Theory]
    [InlineData(0, null)]
    [InlineData(256, 0)]
    [InlineData(1, 1_000_000)]
    public void The_limits_themselves_are_allowed(int loops, int? spinMicroseconds) =>
        Assert.Empty(new FastPortClientOptions { Loops = loops, SpinMicroseconds = spinMicroseconds }.Validate());
}
