using System.CommandLine;

namespace FastPort.Programs;

/// <summary>Prints what a shell runs to complete the program's arguments: it asks the program itself.</summary>
internal static class CompletionCommand
{
    private static readonly Dictionary<string, string> Scripts = new(StringComparer.Ordinal)
    {
        ["bash"] = """
            _@_complete() {
                local IFS=$'\n'
                COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" "[suggest:$COMP_POINT]" "$COMP_LINE" 2>/dev/null)" -- "$2"))
            }
            complete -o default -F _@_complete @
            """,
        ["zsh"] = """
            _@_complete() {
                local -a found
                found=("${(@f)$($words[1] "[suggest:$CURSOR]" "$BUFFER" 2>/dev/null)}")
                [[ -n "$found" ]] && compadd -- $found || _files
            }
            compdef _@_complete @
            """,
        ["fish"] = """
            function __@_complete
                set --local line (commandline --cut-at-cursor --current-process)
                @ "[suggest:"(string length -- "$line")"]" "$line" 2>/dev/null
            end
            complete --command @ --arguments '(__@_complete)'
            """,
        ["pwsh"] = """
            Register-ArgumentCompleter -Native -CommandName @ -ScriptBlock {
                param($word, $line, $cursor)
                & @ "[suggest:$cursor]" "$line" | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
            }
            """,
    };

    /// <summary>Adds the command to a program.</summary>
    public static void AddTo(RootCommand root)
    {
        var shell = new Argument<string>("shell") { Description = $"The shell: {string.Join(", ", Scripts.Keys)}." };
        shell.AcceptOnlyFromAmong([.. Scripts.Keys]);
        var command = new ExampleCommand(
            "completion", "Prints a script that lets a shell complete this program's arguments.", "completion bash")
        {
            shell,
        };
        command.SetAction(result => result.InvocationConfiguration.Output.WriteLine(
            Scripts[result.GetRequiredValue(shell)].Replace("@", ProgramHelp.NameOf(root), StringComparison.Ordinal)));
        root.Add(command);
    }
}
