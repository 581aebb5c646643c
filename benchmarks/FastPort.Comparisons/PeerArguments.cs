using System.CommandLine;
using System.CommandLine.Parsing;
using FastPort.Comparisons.Candidates;

namespace FastPort.Comparisons;

/// <summary>The option by which anybody's server is measured beside the others.</summary>
internal static class PeerArguments
{
    private static readonly Option<OtherServer[]> Peers = new("--peer")
    {
        Description = "NAME=COMMAND: one more server, whose command and arguments stand apart by spaces; may be given several times. It "
            + "writes 'listening on tcp://127.0.0.1:PORT', sends each frame back with its Reply bit set, and ends with its standard "
            + "input. Its core is pinned for it.",
        CustomParser = Parse,
        DefaultValueFactory = _ => [],
    };

    /// <summary>Adds it to the command.</summary>
    public static void AddTo(Command command) => command.Add(Peers);

    /// <summary>What was asked for; nobody for commands that do not have the option.</summary>
    public static IReadOnlyList<OtherServer> Read(ParseResult parsed) =>
        parsed.GetResult(Peers) is null ? [] : parsed.GetRequiredValue(Peers);

    /// <summary>The value as reports tell it: the command is a path on one machine.</summary>
    public static string Told(string option, string value) => option == Peers.Name ? $"{value.Split('=')[0]}=..." : value;

    private static OtherServer[]? Parse(ArgumentResult argument)
    {
        var peers = new List<OtherServer>();
        foreach (Token token in argument.Tokens)
        {
            int equals = token.Value.IndexOf('=', StringComparison.Ordinal);
            string name = token.Value[..Math.Max(0, equals)].Trim();
            string[] command = token.Value[(equals + 1)..].Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (name.Length == 0 || command.Length == 0)
            {
                argument.AddError($"{Peers.Name} {token.Value}: must be a name, '=', and the command that starts the server.");
                return null;
            }

            peers.Add(new OtherServer(name, command));
        }

        return [.. peers];
    }
}
