using FastPort.Programs;
using Microsoft.Extensions.Configuration;
using Xunit;

namespace FastPort.Client.Tests.Commands;

public sealed class TransportOptionsTests
{
    [Theory]
    [InlineData("auto", true, TransportKind.Auto)]
    [InlineData("epoll", true, TransportKind.Epoll)]
    [InlineData("Sockets", false, TransportKind.Sockets)]
    public void Reads_names_in_any_case(string text, bool hasEpoll, TransportKind expected)
    {
        Assert.Null(TransportOptions.Parse(text, hasEpoll, out TransportKind kind));
        Assert.Equal(expected, kind);
    }

    [Theory]
    [InlineData("epoll", false, "--transport is 'epoll', which exists only on Linux; give auto or sockets.")]
    [InlineData("pipes", false, "--transport is 'pipes'; give auto or sockets.")]
    [InlineData("", true, "--transport is ''; give auto, epoll or sockets.")]
    [InlineData("1", true, "--transport is '1'; give auto, epoll or sockets.")]
    [InlineData("auto,epoll", true, "--transport is 'auto,epoll'; give auto, epoll or sockets.")]
    public void Anything_else_is_answered_with_what_this_system_allows(string text, bool hasEpoll, string sentence) =>
        Assert.Equal(sentence, TransportOptions.Parse(text, hasEpoll, out _));

    [Fact]
    public void What_was_said_reaches_client_and_server_and_nothing_else_does()
    {
        (string Key, string Value)[] configured = [
            ("FastPort:Loops", "5"), ("FastPort:SpinMicroseconds", "20"), ("FastPort:Transport", "Sockets"), ("FastPort:PinLoops", "true")];

        (FastPortServerOptions server, FastPortClientOptions client) = Apply(new TransportChoice { SpinMicroseconds = 7 }, configured);
        Assert.Equal((TransportKind.Sockets, 5, 7, true), (server.Transport, server.Loops, server.SpinMicroseconds, server.PinLoops));
        Assert.Equal((TransportKind.Auto, 0, 7, false), (client.Transport, client.Loops, client.SpinMicroseconds, client.PinLoops));

        (server, client) = Apply(new TransportChoice { Kind = TransportKind.Auto, Loops = 0 }, configured);
        Assert.Equal((TransportKind.Auto, 0, 20, true), (server.Transport, server.Loops, server.SpinMicroseconds, server.PinLoops));
        Assert.Equal((TransportKind.Auto, 0, null, false), (client.Transport, client.Loops, client.SpinMicroseconds, client.PinLoops));

        (server, client) = Apply(new TransportChoice { PinLoops = true }, []);
        Assert.Equal((TransportKind.Auto, 0, null, true), (server.Transport, server.Loops, server.SpinMicroseconds, server.PinLoops));
        Assert.Equal((TransportKind.Auto, 0, null, true), (client.Transport, client.Loops, client.SpinMicroseconds, client.PinLoops));
    }

    private static (FastPortServerOptions Server, FastPortClientOptions Client) Apply(
        TransportChoice choice, (string Key, string Value)[] configured)
    {
        IConfigurationRoot configuration = new ConfigurationBuilder()
            .AddInMemoryCollection(configured.Select(static pair => KeyValuePair.Create<string, string?>(pair.Key, pair.Value)))
            .AddInMemoryCollection(choice.ToConfiguration())
            .Build();
        var client = new FastPortClientOptions();
        choice.ApplyTo(client);
        return (FastPortConfiguration.BindServer(configuration), client);
    }
}
