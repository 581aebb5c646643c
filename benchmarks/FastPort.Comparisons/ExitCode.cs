namespace FastPort.Comparisons;

/// <summary>How the program ends; the same numbers as every FastPort program.</summary>
internal static class ExitCode
{
    public const int Good = 0;
    public const int Failed = 1;
    public const int Usage = 2;
}
