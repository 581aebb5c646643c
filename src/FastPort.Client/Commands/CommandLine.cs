using System.CommandLine;
using FastPort.Client.Administration;
using FastPort.Client.Tags;
using FastPort.Client.Top;
using FastPort.Programs;

namespace FastPort.Client.Commands;

/// <summary>The program's command line. Without arguments it runs a load with all defaults.</summary>
internal static class CommandLine
{
    /// <summary>Parses, runs and returns the exit code.</summary>
    /// <param name="args">The program's arguments.</param>
    /// <param name="commands">Executes the commands.</param>
    /// <param name="error">Receives the errors in the arguments.</param>
    public static Task<int> RunAsync(string[] args, ICommands commands, TextWriter error) =>
        ProgramRun.InvokeAsync(Create(commands), args, error);

    /// <summary>Creates the commands.</summary>
    /// <param name="commands">Executes the commands.</param>
    public static RootCommand Create(ICommands commands)
    {
        var root = new RootCommand(
            "FastPort's command line. Without a command, it hosts a server in its process, puts load on it for 10 s and reports the "
            + "results; files go to Stats/.")
        {
            LoadCommand.Create(commands.LoadAsync),
            CompareCommand.Create(commands.CompareAsync),
            TagCommands.Create(commands.TagsAsync),
            TopCommand.Create(commands.TopAsync),
        };
        SecurityCommands.AddTo(root);
        BanCommands.AddTo(root);
        CertificateCommands.AddTo(root);
        root.SetAction((_, _) => commands.LoadAsync(new Load.LoadSettings()));
        return root;
    }
}

/// <summary>Executes the commands.</summary>
internal interface ICommands
{
    /// <summary>Runs a load and returns the exit code.</summary>
    Task<int> LoadAsync(Load.LoadSettings settings);

    /// <summary>Compares two results and returns the exit code.</summary>
    Task<int> CompareAsync(CompareSettings settings);

    /// <summary>Runs a tag command and returns the exit code.</summary>
    Task<int> TagsAsync(string command, TagSettings settings);

    /// <summary>Shows the live figures of a server and returns the exit code.</summary>
    Task<int> TopAsync(TopSettings settings);
}
