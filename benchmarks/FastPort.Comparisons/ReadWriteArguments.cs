using System.CommandLine;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons;

/// <summary>The options that opcua-readwrite alone has.</summary>
internal static class ReadWriteArguments
{
    /// <summary>Measured seconds of each repetition of the full method.</summary>
    public const double FullSeconds = 300;

    /// <summary>Repetitions of the full method.</summary>
    public const int FullRepetitions = 10;

    private static readonly Option<bool> Full = new("--full")
    {
        Description =
            "The full published method: 300 s, 10 repetitions, none and encrypt. With --json FILE, where each finished candidate is kept: "
            + "the same command continues behind them.",
    };

    private static readonly Option<TickSecurity[]?> Security = new("--security")
    {
        Description = "none, sign or encrypt, the latter two with Basic256Sha256; may be given several times (none).",
    };

    /// <summary>Adds them to the command, with what excludes each other.</summary>
    public static void AddTo(Command command, Option<bool> quick, Option<int?> repetitions)
    {
        command.Add(Full);
        command.Add(Security);
        command.Validators.Add(result =>
        {
            if (result.GetValue(Full) && result.GetValue(quick))
            {
                result.AddError("--full and --quick exclude each other; give one of them.");
            }

            if (result.GetValue(repetitions) == 1)
            {
                result.AddError("--repetitions 1: the first repetition is warm-up and does not count; give 2 or more.");
            }
        });
    }

    /// <summary>Whether the full method is asked for; not by commands that do not have it.</summary>
    public static bool IsFull(ParseResult parsed) => parsed.GetResult(Full) is not null && parsed.GetValue(Full);

    /// <summary>How messages are protected: as asked for, else as the method says.</summary>
    public static IReadOnlyList<TickSecurity> SecurityOf(ParseResult parsed)
    {
        TickSecurity[]? chosen = parsed.GetResult(Security) is null ? null : parsed.GetValue(Security);
        return chosen is { Length: > 0 } ? [.. chosen.Distinct()]
            : IsFull(parsed) ? [TickSecurity.None, TickSecurity.Encrypt] : [TickSecurity.None];
    }
}
