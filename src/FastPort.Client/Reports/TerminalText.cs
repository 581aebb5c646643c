namespace FastPort.Client.Reports;

/// <summary>Colors of a terminal.</summary>
internal static class TerminalText
{
    /// <summary>Whether standard output is a terminal that shows colors.</summary>
    public static bool IsColored =>
        !Console.IsOutputRedirected && string.IsNullOrEmpty(Environment.GetEnvironmentVariable("NO_COLOR"));

    /// <summary>The text in red, if <paramref name="red"/> is set.</summary>
    public static string Red(string text, bool red) => red ? $"\u001b[31m{text}\u001b[0m" : text;
}
