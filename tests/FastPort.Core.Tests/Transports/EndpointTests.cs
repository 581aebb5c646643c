using FastPort.Transports;
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
    public void Reads_URIs_and_writes_them_so_that_they_read_the_same(string text, string scheme, string host, int port)
    {
        Endpoint endpoint = Endpoint.Parse(text);

        Assert.Equal(new Endpoint(scheme, host, port), endpoint);
        Assert.Equal(endpoint, Endpoint.Parse(endpoint.ToString()));
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
    [InlineData("tcp://host:80/path", "is not a port")]
    [InlineData("tcp://::1:6628", "needs brackets")]
    [InlineData("unix://", "names no file")]
    [InlineData("unix:///", "names no file")]
    [InlineData("unix://@", "names no file")]
    [InlineData("unix://run/fastport.sock", "is not a whole path")]
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
