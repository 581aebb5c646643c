using System.CommandLine;
using FastPort.Programs;
using FastPort.Security;

namespace FastPort.Client.Administration;

/// <summary>The commands <c>users set</c>, <c>users remove</c> and <c>policy check</c>.</summary>
internal static class SecurityCommands
{
    /// <summary>Adds the commands.</summary>
    public static void AddTo(RootCommand root)
    {
        root.Add(CreateUsers());
        root.Add(CreatePolicy());
    }

    private static Command CreateUsers()
    {
        var file = new Argument<string>("file") { Description = "The file of users that Security:UsersFile names." };
        var name = new Argument<string>("name") { Description = "The user's name." };
        var roles = new Option<string[]>("--role") { Description = "A role of the user. Can be given several times.", HelpName = "ROLE" };
        var set = new ExampleCommand(
            "set",
            "Add a user, or give a user a new password and new roles. The password is prompted for, or read from standard input.",
            "users set users.txt anna --role operator")
        {
            file,
            name,
            roles,
        };
        set.SetAction((result, cancellationToken) => CommandRun.ReportAsync(() =>
        {
            string path = result.GetRequiredValue(file);
            string user = result.GetRequiredValue(name);
            UserFiles.Set(path, user, Password.Read(Console.Error), result.GetValue(roles) ?? []);
            Console.WriteLine($"{user} is in {path}; a running server applies it within Security:ReloadInterval.");
            return ExitCode.Good;
        }));

        var remove = new ExampleCommand(
            "remove", "Remove a user. Open sessions of the user stay open until the user is banned.", "users remove users.txt anna")
        {
            file, name,
        };
        remove.SetAction((result, cancellationToken) => CommandRun.ReportAsync(() =>
        {
            string path = result.GetRequiredValue(file);
            string user = result.GetRequiredValue(name);
            if (UserFiles.Remove(path, user))
            {
                Console.WriteLine($"{user} is no longer in {path}.");
                return ExitCode.Good;
            }

            throw new CommandFailedException(ExitCode.Failed, $"{path} has no user '{user}'.");
        }));
        return new Command("users", "Manage a file of users with passwords.") { set, remove };
    }

    private static Command CreatePolicy()
    {
        var file = new Argument<string>("file") { Description = "The policy file that Security:PolicyFile names." };
        var user = new Option<string?>("--user") { Description = "Show what this user may do.", HelpName = "NAME" };
        var roles = new Option<string[]>("--role") { Description = "A role of that user. Can be given several times.", HelpName = "ROLE" };
        var check = new ExampleCommand(
            "check",
            "Read a policy as the server does, and report its errors or what it allows.",
            "policy check policy.json --user anna --role operator")
        {
            file,
            user,
            roles,
        };
        check.SetAction((result, cancellationToken) => CommandRun.ReportAsync(() =>
        {
            string path = result.GetRequiredValue(file);
            var policy = PolicyCheck.Read(path);
            if (policy.Problems.Count != 0)
            {
                throw new CommandFailedException(ExitCode.Failed, string.Join(Environment.NewLine, policy.Problems));
            }

            string? whom = result.GetValue(user);
            Console.WriteLine($"{path}: {policy.RuleCount} {(policy.RuleCount == 1 ? "rule" : "rules")}, no errors.");
            Console.WriteLine(whom is null ? "An anonymous peer may:" : $"{whom} may:");
            foreach (string line in policy.Describe(whom, result.GetValue(roles) ?? []))
            {
                Console.WriteLine($"  {line}");
            }

            return ExitCode.Good;
        }));
        return new Command("policy", "Check a permission policy.") { check };
    }
}
