using FastPort.Conformance.Cases;
using FastPort.Conformance.Serving;

namespace FastPort.Conformance;

/// <summary>The command line.</summary>
/// <param name="Transports">The transports to play the cases over.</param>
/// <param name="Part">A text that the names of the cases contain.</param>
/// <param name="Folder">The folder of the cases.</param>
/// <param name="WithTrace">Whether the log of a case that has passed is written, too.</param>
/// <param name="OnlyList">Whether the cases are listed, not played.</param>
/// <param name="Command">Starts the adapter: a program and its arguments.</param>
internal sealed record RunOptions(
    string[] Transports, string Part, string Folder, bool WithTrace, bool OnlyList, string[] Command)
{
    /// <summary>How to use the program.</summary>
    public const string Usage =
        """
        FastPort.Conformance [options] -- COMMAND [ARGUMENTS]
          COMMAND              starts the adapter of the client under test
          --transport NAMES    tcp, tls, unix, ws, wss; several with commas (tcp)
          --case TEXT          only cases whose names contain the text
          --cases FOLDER       the cases (those next to this program)
          --trace              what happened in each case, also if it passed
          --list               the cases, without playing them
        """;

    /// <summary>Reads the command line.</summary>
    /// <exception cref="FormatException">It is wrong; the message says what is.</exception>
    public static RunOptions Parse(IReadOnlyList<string> arguments)
    {
        List<string> own = [.. arguments.TakeWhile(static one => one != "--")];
        string[] transports = Value(own, "--transport", "tcp").Split(',');
        string[] known = [.. Site.Transports.Except(["inproc"])];
        var options = new RunOptions(
            transports,
            Value(own, "--case", string.Empty),
            Value(own, "--cases", CaseFolder.Default),
            own.Remove("--trace"),
            own.Remove("--list"),
            [.. arguments.SkipWhile(static one => one != "--").Skip(1)]);
        return own.Count != 0 ? throw new FormatException($"'{own[0]}' is not an option. The adapter's command comes behind '--'.")
            : transports.Except(known).FirstOrDefault() is { } unknown
                ? throw new FormatException($"There is no transport '{unknown}'; there are {string.Join(", ", known)}.")
            : options is { OnlyList: false, Command: [] }
                ? throw new FormatException("The adapter's command is missing: it comes behind '--'.")
            : options;
    }

    private static string Value(List<string> own, string name, string otherwise)
    {
        int at = own.IndexOf(name);
        if (at < 0)
        {
            return otherwise;
        }

        if (at + 1 == own.Count)
        {
            throw new FormatException($"{name} needs a value.");
        }

        string value = own[at + 1];
        own.RemoveRange(at, 2);
        return value;
    }
}
