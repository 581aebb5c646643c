using System.CommandLine;

namespace FastPortPeer.Soak;

/// <summary>The commands of the soak's two processes.</summary>
internal static class SoakCommands
{
    private static readonly Option<string> Endpoint = new("--endpoint")
    {
        Description = "Where to listen or to connect to over TCP, as a URI.",
        Required = true,
    };

    private static readonly Option<string> WebSocket = new("--websocket")
    {
        Description = "The same over WebSockets.",
        Required = true,
    };

    private static readonly Option<double> Seconds = new("--seconds") { Description = "How long.", DefaultValueFactory = _ => 60 };

    private static readonly Option<double> SampleSeconds = new("--sample-seconds")
    {
        Description = "Between samples of memory.",
        DefaultValueFactory = _ => 1,
    };

    public static void AddTo(RootCommand root)
    {
        var server = new Command("soak-server", "The soak's server: diagnostics and a relay.") { Endpoint, WebSocket, SampleSeconds };
        server.SetAction((parsed, _) => SoakServer.RunAsync(
            parsed.GetRequiredValue(Endpoint), parsed.GetRequiredValue(WebSocket), Interval(parsed)));
        var load = new Command("soak-load", "The soak's loads, all at once.") { Endpoint, WebSocket, Seconds, SampleSeconds };
        load.SetAction((parsed, _) => SoakDriver.RunAsync(
            parsed.GetRequiredValue(Endpoint),
            parsed.GetRequiredValue(WebSocket),
            TimeSpan.FromSeconds(parsed.GetValue(Seconds)),
            Interval(parsed)));
        root.Add(server);
        root.Add(load);
    }

    private static TimeSpan Interval(ParseResult parsed) => TimeSpan.FromSeconds(parsed.GetValue(SampleSeconds));
}
