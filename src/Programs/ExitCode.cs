namespace FastPort.Programs;

/// <summary>Exit codes of the programs.</summary>
internal static class ExitCode
{
    /// <summary>All went well.</summary>
    public const int Good = 0;

    /// <summary>The run failed: a port is taken, a server cannot be reached, replies are wrong, lost or missing.</summary>
    public const int Failed = 1;

    /// <summary>Arguments, configuration or files given are wrong.</summary>
    public const int Usage = 2;
}
