using System.Text;
using FastPort.Programs;

namespace FastPort.Client.Administration;

/// <summary>Reads a password: never from an argument, which other users of the machine can see.</summary>
internal static class Password
{
    /// <summary>The first line of redirected input; on a terminal it is prompted for, and not shown.</summary>
    /// <param name="prompt">Receives the prompt.</param>
    /// <exception cref="CommandFailedException">There is none.</exception>
    public static string Read(TextWriter prompt)
    {
        string? password = Console.IsInputRedirected ? Console.In.ReadLine() : FromTerminal(prompt);
        return string.IsNullOrEmpty(password)
            ? throw new CommandFailedException(ExitCode.Usage, "No password was given; type one, or pass it on standard input.")
            : password;
    }

    private static string FromTerminal(TextWriter prompt)
    {
        prompt.Write("Password: ");
        StringBuilder typed = new();
        while (Console.ReadKey(intercept: true) is { Key: not ConsoleKey.Enter } key)
        {
            if (key.Key == ConsoleKey.Backspace)
            {
                typed.Length = Math.Max(0, typed.Length - 1);
            }
            else if (!char.IsControl(key.KeyChar))
            {
                typed.Append(key.KeyChar);
            }
        }

        prompt.WriteLine();
        return typed.ToString();
    }
}
