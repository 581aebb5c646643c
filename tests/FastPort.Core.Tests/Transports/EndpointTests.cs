using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class EndpointTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:6628", "tcp", "127.0.0.1", 6628)]
    [InlineData("TCP://LocalHost:1/", "tcp", "LocalHost", 1)]
    [InlineData("tcp://example.org", "tcp", "example.org", 6628)]
    [InlineData("tcp://[::1]:0", "tcp", "::1", 0)]
    [InlineData("tcp://[fe80::1]", "tcp", "fe80::1", 6628)]
    [InlineData("tcp://*:65535", "tcp", "*", 65535)]
    [InlineData("unix:///run/fastport.sock", "unix", "/run/fastport.sock", 0)]
    [InlineData("unix://@name", "unix", "@name", 0)]
    [InlineData("unix:///a b/%20.sock", "unix", "/a b/%20.sock", 0)]
    [InlineData("inproc://name", "inproc", "name", 0)]
    [InlineData("inproc://a/b?c#d", "inproc", "a/b?c#d", 0)]
    [InlineData("opc.tcp://host", "opc.tcp", "host", -1)]
    [InlineData("tls://[::1]:6629", "tls", "::1", 6629)]
    [InlineData("ws://host", "ws", "host", 80)]
    [InlineData("wss://host", "wss", "host", 443)]
    [InlineData("tcp://[fe80::1%25]:1", "tcp", "fe80::1%25", 1)]
    public void Reads_URIs_and_writes_them_so_that_they_read_the_same(string text, string scheme, string host, int port)
    {
        Endpoint endpoint = Endpoint.Parse(text);

        Assert.Equal(new Endpoint(scheme, host, port), endpoint);
        Assert.Equal(endpoint, Endpoint.Parse(endpoint.ToString()));
    }

    [Theory]
    [InlineData("opc.tcp://host:4840/path", "host", 4840, "/path", "")]
    [InlineData("opc.tcp://host:4840/", "host", 4840, "/", "")]
    [InlineData("opc.tcp://[::1]/a/b?c=d&e=/f?g", "::1", -1, "/a/b", "c=d&e=/f?g")]
    [InlineData("opc.tcp://host?c", "host", -1, "", "c")]
    [InlineData("serial:///dev/ttyS0", "", -1, "/dev/ttyS0", "")]
    [InlineData("ws://h:80/game%20one", "h", 80, "/game%20one", "")]
    [InlineData("x+y.z-1://h/%2F%20:8:/", "h", -1, "/%2F%20:8:/", "")]
    public void Reads_path_and_query_of_schemes_that_it_does_not_know(string text, string host, int port, string path, string query)
    {
        Endpoint endpoint = Endpoint.Parse(text);

        Assert.Equal((host, port, path, query), (endpoint.Host, endpoint.Port, endpoint.Path, endpoint.Query));
        Assert.Equal(text, endpoint.ToString());
    }

    [Fact]
    public void Whatever_is_read_is_written_so_that_it_reads_the_same()
    {
        string[] pieces = [
            "tcp", "opc.tcp", "unix", "inproc", "://", "/", "//", ":", "?", "#", "@", "[", "]", "::1", "%", "*", "host", "1", "65535",
            "65536", "-1", " ", "é", "\0", "\n"];
        Gen<string> texts = Gen.ArrayOf(
            Gen.Frequency((6, Gen.Elements(pieces)), (1, Gen.Choose(0, 0x2fff).Select(static c => ((char)c).ToString()))))
            .Select(static parts => string.Concat(parts));
        Gen<string> likely = Gen.Elements("tcp://", "opc.tcp://", "unix:///", "inproc://")
            .SelectMany(start => texts.Select(rest => start + rest));
        Config config = Config.QuickThrowOnFailure.WithMaxTest(20_000).WithEndSize(12).WithQuietOnSuccess(true)
            .WithReplay(new Replay(new Rnd(6628, 1), null));
        int read = 0;

        Check.One(config, Prop.ForAll(Arb.From(Gen.OneOf(texts, likely)), text =>
        {
            if (!Endpoint.TryParse(text, out Endpoint? endpoint, out string? problem))
            {
                return problem.Length != 0 && !problem.Contains('\n', StringComparison.Ordinal);
            }

            read++;
            return endpoint.Equals(Endpoint.Parse(endpoint.ToString()));
        }));

        Assert.InRange(read, 1000, 19_000);
    }

    [Theory]
    [InlineData(null, "is not an endpoint")]
    [InlineData("", "is not an endpoint")]
    [InlineData("127.0.0.1:6628", "is not an endpoint")]
    [InlineData("://host:1", "is not an endpoint")]
    [InlineData("tcp:/host:1", "is not an endpoint")]
    [InlineData("tcp://", "names no host")]
    [InlineData("tcp://:6628", "names no host")]
    [InlineData("tcp://host:", "is not a port")]
    [InlineData("tcp://host:65536", "is not a port")]
    [InlineData("tcp://host:-1", "is not a port")]
    [InlineData("tcp://host:+1", "is not a port")]
    [InlineData("tcp://host:http", "is not a port")]
    [InlineData("tcp://host:99999999999999999999", "is not a port")]
    [InlineData("tcp://host:80/path", "has a path or a query")]
    [InlineData("ws://host/game?a=b", "has a query")]
    [InlineData("ws://host/a game", "percent-encoding")]
    [InlineData("wss://host/gäme", "percent-encoding")]
    [InlineData("ws:///game", "names no host")]
    [InlineData("tcp://host:80?query", "has a path or a query")]
    [InlineData("1tcp://host:80", "is not an endpoint")]
    [InlineData("t cp://host:80", "is not an endpoint")]
    [InlineData("opc.tcp://", "names no host")]
    [InlineData("opc.tcp://:4840", "names no host")]
    [InlineData("opc.tcp://:4840/path", "names no host")]
    [InlineData("opc.tcp://?query", "names no host")]
    [InlineData("opc.tcp://host:4840x/path", "is not a port")]
    [InlineData("opc.tcp://user@host/path", "is not a host name")]
    [InlineData("opc.tcp://a b/path", "is not a host name")]
    [InlineData("opc.tcp://::1/path", "needs brackets")]
    [InlineData("opc.tcp://[127.0.0.1]/path", "is not an IPv6 address")]
    [InlineData("opc.tcp://[::1%]/path", "is not an IPv6 address")]
    [InlineData("opc.tcp://[/path", "is not a host name")]
    [InlineData("opc.tcp://host/path#part", "has a fragment")]
    [InlineData("tcp://::1:6628", "needs brackets")]
    [InlineData("unix://", "names no file")]
    [InlineData("unix:///", "names no file")]
    [InlineData("unix://@", "names no file")]
    [InlineData("unix://run/fastport.sock", "is not an absolute path")]
    [InlineData("unix:///run/", "names a directory")]
    [InlineData("inproc://", "names no link")]
    public void Says_what_is_wrong_with_the_text_and_gives_an_example(string? text, string problem)
    {
        Assert.False(Endpoint.TryParse(text, out Endpoint? endpoint, out string? said));
        Assert.Null(endpoint);
        Assert.Contains(problem, said, StringComparison.Ordinal);
        Assert.Contains($"'{text}'", said, StringComparison.Ordinal);
        Assert.Equal(said, Assert.Throws<FormatException>(() => Endpoint.Parse(text!)).Message);
    }
}
