namespace FastPort.Programs;

/// <summary>Exit codes of the programs.</summary>
internal static class ExitCode
{
    /// <summary>The run succeeded.</summary>
    public const int Good = 0;

    /// <summary>The run failed: a port is in use, a server cannot be reached, or replies are wrong, lost or missing.</summary>
    public const int Failed = 1;

    /// <summary>Arguments, configuration or files are invalid.</summary>
    public const int Usage = 2;
}
