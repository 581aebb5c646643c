using System.CommandLine;
using System.CommandLine.Help;
using System.CommandLine.Invocation;

namespace FastPort.Programs;

/// <summary>The output of <c>--help</c>: lines that are wrapped even if the output is not a terminal, and an example at the end.</summary>
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
        if (parseResult.CommandResult.Command is ExampleCommand { Example: var example })
        {
            TextWriter output = parseResult.InvocationConfiguration.Output;
            output.WriteLine("Example:");
            output.WriteLine($"  {RootCommand.ExecutableName} {example}");
        }

        return exitCode;
    }

    private static int Width()
    {
        int width = Console.IsOutputRedirected ? UsualWidth : Console.WindowWidth;
        return width <= 0 ? UsualWidth : Math.Clamp(width, LeastWidth, UsualWidth);
    }
}
