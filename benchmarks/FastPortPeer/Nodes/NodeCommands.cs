using System.CommandLine;

namespace FastPortPeer.Nodes;

/// <summary>The loads of the comparison of nodes.</summary>
internal static class NodeCommands
{
    private static readonly Option<string> From = new("--from") { Description = "The node of the senders.", Required = true };
    private static readonly Option<string> To = new("--to") { Description = "The node of the targets.", Required = true };
    private static readonly Option<string> Redis = new("--redis") { Description = "Redis, as HOST:PORT.", Required = true };
    private static readonly Option<int> Senders = new("--senders") { Description = "Senders, and targets.", DefaultValueFactory = _ => 16 };

    private static readonly Option<int> InFlight = new("--in-flight")
    {
        Description = "Messages in flight: of each sender, or in all.",
        DefaultValueFactory = _ => 16,
    };

    private static readonly Option<int> Size = new("--size") { Description = "Bytes of a message.", DefaultValueFactory = _ => 64 };

    private static readonly Option<int[]> Processes = new("--server-pid")
    {
        Description = "Processes whose CPU time is the servers'.",
        AllowMultipleArgumentsPerToken = true,
    };

    private static readonly Option<int> Rate = new("--rate") { Description = "Sessions a second.", DefaultValueFactory = _ => 10_000 };

    public static void AddTo(RootCommand root)
    {
        var churn = new Command("churn", "Sessions that claim a routing id and go, while others wait for echoes.")
        {
            To, Rate, Senders, Processes,
        };
        churn.SetAction(async (parsed, _) =>
        {
            using var load = new ChurnLoad(parsed.GetRequiredValue(To), parsed.GetValue(Rate), parsed.GetValue(Senders));
            await load.ServeAsync(parsed.GetValue(Processes) ?? []);
        });
        root.Add(churn);
        var relays = new Command("relays", "Relays from one node to another.") { From, To, Senders, InFlight, Size, Processes };
        relays.SetAction(async (parsed, _) =>
        {
            await using var load = new RelayLoad();
            await load.StartAsync(
                parsed.GetRequiredValue(From), parsed.GetRequiredValue(To), parsed.GetValue(Senders), parsed.GetValue(InFlight),
                parsed.GetValue(Size));
            await load.ServeAsync(parsed.GetValue(Processes) ?? []);
        });
        root.Add(relays);
        var publications = new Command("publications", "Publications through Redis, one a message.") { Redis, InFlight, Size, Processes };
        publications.SetAction(async (parsed, _) =>
        {
            await using var load = new PublicationLoad();
            await load.StartAsync(parsed.GetRequiredValue(Redis), parsed.GetValue(InFlight), parsed.GetValue(Size));
            await load.ServeAsync(parsed.GetValue(Processes) ?? []);
        });
        root.Add(publications);
        var interests = new Command("interests", "What it costs a node to know which topics others want.");
        interests.SetAction(static _ => InterestCosts.Print());
        root.Add(interests);
    }
}
