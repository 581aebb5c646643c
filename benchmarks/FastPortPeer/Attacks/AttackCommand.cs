using System.CommandLine;
using System.Text.Json;

namespace FastPortPeer.Attacks;

/// <summary>
/// Attacks a server in every way, one after the other, and says for each how long it held up echoes of others, a JSON line each.
/// </summary>
internal static class AttackCommand
{
    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    private static readonly Option<string> Endpoint = new("--endpoint") { Description = "The server, as a URI.", Required = true };

    private static readonly Option<double> Seconds = new("--seconds")
    {
        Description = "How long each attack lasts.",
        DefaultValueFactory = _ => 3,
    };

    public static void AddTo(RootCommand root)
    {
        var attack = new Command("attack", "What strangers can do to the echoes of others.") { Endpoint, Seconds };
        attack.SetAction(static parsed => Run(parsed.GetRequiredValue(Endpoint), TimeSpan.FromSeconds(parsed.GetValue(Seconds))));
        root.Add(attack);
    }

    private static void Run(string endpoint, TimeSpan duration)
    {
        using var probe = new EchoProbe(endpoint);
        probe.Longest(duration);
        foreach (Attack attack in Attack.All)
        {
            TimeSpan quiet = probe.Longest(duration), attacked = TimeSpan.Zero;
            long before = probe.Echoes;
            attack.Run(endpoint, () => attacked = probe.Longest(duration));
            Console.WriteLine(JsonSerializer.Serialize(
                new
                {
                    attack.Name,
                    attack.Description,
                    QuietMs = quiet.TotalMilliseconds,
                    LongestMs = attacked.TotalMilliseconds,
                    EchoesPerS = (probe.Echoes - before) / duration.TotalSeconds,
                },
                Format));
        }
    }
}
