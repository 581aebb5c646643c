using System.CommandLine;
using FastPort.Programs;
using FastPort.Client.Certificates;

namespace FastPort.Client.Administration;

/// <summary>The command <c>certs create</c>.</summary>
internal static class CertificateCommands
{
    private const int DefaultDays = 365;
    private const int MaxDays = 825;

    /// <summary>Adds the command.</summary>
    public static void AddTo(RootCommand root)
    {
        var directory = new Argument<string>("dir") { Description = "Directory for the files. Created if it does not exist." };
        Option<string[]> names = Names(
            "--name",
            "A DNS name or IP address of the server. Can be given several times. "
            + "[default: localhost, 127.0.0.1, ::1 and this machine's name]",
            SubjectNames.IsServer,
            "give a DNS name such as server.example.org, or an IP address");
        Option<string[]> clients = Names(
            "--client",
            "Also creates a certificate for a client with this name. Can be given several times.",
            SubjectNames.IsClient,
            "give 1 to 64 of the characters A to Z, a to z, 0 to 9, '.', '-', '_' and '@'");
        Option<int> days = WholeNumberOption.Create("--days", "Number of days that certificates are valid.", "N", DefaultDays, 1, MaxDays);
        var create = new ExampleCommand(
            "create",
            "Create certificates for a server and its clients, and the authority that signs them.",
            "certs create certs --name localhost --client anna")
        {
            directory,
            names,
            clients,
            days,
        };
        create.SetAction((result, cancellationToken) => CommandRun.ReportAsync(() => Create(
            new CertificateDirectory(result.GetRequiredValue(directory)),
            result.GetValue(names) is { Length: > 0 } given ? given : SubjectNames.OfThisMachine(),
            result.GetValue(clients) ?? [],
            result.GetValue(days))));
        root.Add(new Command("certs", "Create certificates for development.") { create });
    }

    private static Option<string[]> Names(string option, string description, Func<string, bool> isName, string what)
    {
        var names = new Option<string[]>(option) { Description = description, HelpName = "NAME" };
        names.Validators.Add(result =>
        {
            foreach (string wrong in result.Tokens.Select(static token => token.Value).Where(name => !isName(name)))
            {
                result.AddError($"{option} is '{wrong}'; {what}.");
            }
        });
        return names;
    }

    private static int Create(CertificateDirectory directory, string[] names, string[] clients, int days)
    {
        DateTimeOffset now = DateTimeOffset.UtcNow;
        DevelopmentAuthority? present = directory.ReadAuthority(now);
        using DevelopmentAuthority authority = present ?? DevelopmentAuthority.Create(now);
        directory.Create();
        if (present is null)
        {
            PemPair own = authority.ToPem();
            directory.WriteAuthority(own);
            Tell("ca", own, "the authority");
        }
        else
        {
            Console.WriteLine($"kept {directory.PathOf("ca.pem")}: the authority");
        }

        Write("server", authority.SignServer(names, days), string.Join(", ", names));
        foreach (string client in clients.Distinct(StringComparer.Ordinal))
        {
            Write($"client-{client}", authority.SignClient(client, days), $"client {client}");
        }

        CertificateHints.Write(Console.Out, directory, names[0], clients.FirstOrDefault());
        return ExitCode.Good;

        void Write(string name, PemPair pair, string owner)
        {
            directory.Write(name, pair);
            Tell(name, pair, owner);
        }

        void Tell(string name, PemPair pair, string owner)
        {
            Console.WriteLine($"wrote {directory.PathOf($"{name}.pem")}: {owner}; valid until {pair.NotAfter.UtcDateTime:yyyy-MM-dd}");
            Console.WriteLine($"wrote {directory.PathOf($"{name}.key")}");
        }
    }
}
