using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;

namespace FastPort.Programs;

/// <summary>
/// The output of <c>--help</c>: lines that are wrapped even if the output is not a terminal, and an example of each command at the end.
/// </summary>
internal sealed class ProgramHelp : SynchronousCommandLineAction
{
    private const int LeastWidth = 40;
    private const int UsualWidth = 100;

    private readonly HelpAction _help;

    private ProgramHelp(HelpAction help) => _help = help;

    /// <inheritdoc/>
    public override bool ClearsParseErrors => _help.ClearsParseErrors;

    /// <summary>Sets the program's help up.</summary>
    public static void SetUp(RootCommand root)
    {
        if (root.Options.OfType<HelpOption>().FirstOrDefault() is { Action: HelpAction help } option)
        {
            help.MaxWidth = Width();
            option.Action = new ProgramHelp(help);
        }
    }

    /// <inheritdoc/>
    public override int Invoke(ParseResult parseResult)
    {
        int exitCode = _help.Invoke(parseResult);
        string[] examples = [.. Examples(parseResult.CommandResult.Command)];
        if (examples.Length != 0)
        {
            TextWriter output = parseResult.InvocationConfiguration.Output;
            string program = NameOf((RootCommand)parseResult.RootCommandResult.Command);
            output.WriteLine(examples.Length == 1 ? "Example:" : "Examples:");
            foreach (string example in examples)
            {
                output.WriteLine($"  {program} {example}");
            }
        }

        return exitCode;
    }

    /// <summary>The program's name as users type it, which is that of the tool.</summary>
    public static string NameOf(RootCommand root) => root.HelpName ?? root.Name;

    private static IEnumerable<string> Examples(Command command) =>
        command is ExampleCommand { Example: var example } ? [example] : command.Subcommands.SelectMany(Examples);

    private static int Width()
    {
        int width = Console.IsOutputRedirected ? UsualWidth : Console.WindowWidth;
        return width <= 0 ? UsualWidth : Math.Clamp(width, LeastWidth, UsualWidth);
    }
}
