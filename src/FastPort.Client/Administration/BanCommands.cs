using System.CommandLine;
using System.CommandLine.Parsing;
using FastPort.Configuration;
using FastPort.Programs;
using FastPort.Security;

namespace FastPort.Client.Administration;

/// <summary>The commands <c>bans list</c>, <c>bans add</c> and <c>bans lift</c>.</summary>
internal static class BanCommands
{
    private static readonly TimeSpan Longest = TimeSpan.FromDays(3650);

    /// <summary>Adds the commands.</summary>
    public static void AddTo(RootCommand root)
    {
        var file = new Argument<string>("file") { Description = "The file of bans that Security:BansFile names." };
        var subject = new Argument<string>("subject")
        {
            Description = "An address (10.0.0.7), a network (10.0.0.0/8, 2001:db8:1:2::/64) or a user (user:anna).",
        };
        root.Add(new Command(
            "bans", "List, add and lift bans of addresses and users. A running server applies changes within Security:ReloadInterval.")
        {
            CreateList(file),
            CreateAdd(file, subject),
            CreateLift(file, subject),
        });
    }

    private static ExampleCommand CreateList(Argument<string> file)
    {
        var list = new ExampleCommand("list", "List the bans that have not ended.", "bans list bans.json") { file };
        list.SetAction((result, cancellationToken) => CommandRun.ReportAsync(() =>
        {
            string path = result.GetRequiredValue(file);
            IReadOnlyList<Ban> bans = BanFiles.Read(path);
            foreach (Ban ban in bans)
            {
                Console.WriteLine(ban);
            }

            if (bans.Count == 0)
            {
                Console.WriteLine($"{path} has no bans.");
            }

            return ExitCode.Good;
        }));
        return list;
    }

    private static ExampleCommand CreateAdd(Argument<string> file, Argument<string> subject)
    {
        var time = new Option<TimeSpan>("--for")
        {
            Description = "Duration of the ban as d.hh:mm:ss: 01:00:00 is an hour, 7.00:00:00 a week. Defaults to an hour.",
            HelpName = "TIME",
            DefaultValueFactory = static _ => TimeSpan.FromHours(1),
            CustomParser = ParseTime,
        };
        var reason = new Option<string>("--reason")
        {
            Description = "Reason, shown in the logs.",
            HelpName = "TEXT",
            DefaultValueFactory = static _ => string.Empty,
        };
        var add = new ExampleCommand(
            "add",
            "Ban an address, network or user: open sessions end, new ones are refused.",
            "bans add bans.json 203.0.113.0/24 --for 01:00:00 --reason flood")
        {
            file,
            subject,
            time,
            reason,
        };
        add.SetAction((result, cancellationToken) => CommandRun.ReportAsync(() =>
        {
            DateTimeOffset until = TimeProvider.System.GetUtcNow() + result.GetValue(time);
            var ban = new Ban(result.GetRequiredValue(subject), until, result.GetValue(reason) ?? string.Empty);
            BanFiles.Add(result.GetRequiredValue(file), ban);
            Console.WriteLine(ban);
            return ExitCode.Good;
        }));
        return add;
    }

    private static ExampleCommand CreateLift(Argument<string> file, Argument<string> subject)
    {
        var lift = new ExampleCommand("lift", "Lift a ban before it ends.", "bans lift bans.json user:anna") { file, subject };
        lift.SetAction((result, cancellationToken) => CommandRun.ReportAsync(() =>
        {
            string path = result.GetRequiredValue(file);
            string whom = result.GetRequiredValue(subject);
            if (!BanFiles.Lift(path, whom))
            {
                throw new CommandFailedException(ExitCode.Failed, $"{path} has no ban of '{whom}'.");
            }

            Console.WriteLine($"The ban of {whom} is lifted.");
            return ExitCode.Good;
        }));
        return lift;
    }

    private static TimeSpan ParseTime(ArgumentResult result)
    {
        string text = result.Tokens.Count == 1 ? result.Tokens[0].Value : string.Empty;

        if (OptionSection.TryParseTime(text, out TimeSpan time) && time > TimeSpan.Zero && time <= Longest)
        {
            return time;
        }

        result.AddError($"--for is '{text}'; give a time as d.hh:mm:ss, up to {Longest.TotalDays} days.");
        return default;
    }
}
